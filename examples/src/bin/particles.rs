//! Moves particles that attract each other, step by step.
//!
//! Two loops per step: forces (each particle reads all others) and motion (each particle changes itself). `zip` walks several
//! arrays at once. Each particle's force is added up in the same order as in sequential code, so nothing drifts apart.

use blitz::prelude::*;
use blitz_examples::{Random, Recipe};

type Vector = [f64; 2];

#[derive(Clone, Debug, PartialEq)]
struct World {
    places: Vec<Vector>,
    speeds: Vec<Vector>,
}

const STEP: f64 = 1e-4;

impl World {
    fn random(count: usize) -> Self {
        let mut random = Random::new(6);
        World {
            places: (0..count).map(|_| [random.unit(), random.unit()]).collect(),
            speeds: vec![[0.0; 2]; count],
        }
    }

    fn force_on(&self, place: Vector) -> Vector {
        let mut force = [0.0; 2];
        for other in &self.places {
            let (dx, dy) = (other[0] - place[0], other[1] - place[1]);
            // Softened, so that a particle does not tear itself apart.
            let square = dx * dx + dy * dy + 1e-3;
            let strength = 1.0 / (square * square.sqrt());
            force[0] += strength * dx;
            force[1] += strength * dy;
        }
        force
    }

    fn step_alone(&mut self) {
        let forces: Vec<Vector> = self
            .places
            .iter()
            .map(|&place| self.force_on(place))
            .collect();
        let moving = self.places.iter_mut().zip(&mut self.speeds).zip(&forces);
        moving.for_each(|((place, speed), force)| advance(place, speed, force));
    }

    fn step(&mut self) {
        let forces: Vec<Vector> = self
            .places
            .par_iter()
            .map(|&place| self.force_on(place))
            .collect();
        let moving = self
            .places
            .par_iter_mut()
            .zip(&mut self.speeds)
            .zip(&forces);
        moving.for_each(|((place, speed), force)| advance(place, speed, force));
    }
}

fn advance(place: &mut Vector, speed: &mut Vector, force: &Vector) {
    for axis in 0..2 {
        speed[axis] += STEP * force[axis];
        place[axis] += STEP * speed[axis];
    }
}

fn main() {
    let recipe = Recipe::start("particles: forces between all pairs, then motion");
    let world = World::random(recipe.size(2_000, 200));
    let steps = 5;
    let run = |step: fn(&mut World)| {
        let mut world = world.clone();
        (0..steps).for_each(|_| step(&mut world));
        world
    };
    let after = recipe.compare(|| run(World::step_alone), || run(World::step));
    // Forces between pairs cancel out, so the particles as a whole do not begin to move.
    let drift: f64 = after.speeds.iter().map(|speed| speed[0]).sum();
    assert!(drift.abs() < 1e-6, "{drift}");
    println!("  {} particles, {steps} steps", world.places.len());
}
