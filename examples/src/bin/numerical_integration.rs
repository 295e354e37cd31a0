//! Integrates a function that is smooth here and wild there, by adaptive halving.
//!
//! How deep the recursion goes depends on the function, so work cannot be divided beforehand. `join` needs no cut-off: a fork that
//! nobody takes costs about a nanosecond. The order of additions is the recursion's, so results are equal to the last bit.

use blitz_examples::Recipe;

fn f(x: f64) -> f64 {
    (1.0 / (x + 0.002)).sin() * x.sqrt()
}

/// An interval with the values of the function at its ends and in the middle, and Simpson's estimate.
#[derive(Clone, Copy)]
struct Piece {
    a: f64,
    b: f64,
    fa: f64,
    fm: f64,
    fb: f64,
}

impl Piece {
    fn whole(a: f64, b: f64) -> Self {
        Piece {
            a,
            b,
            fa: f(a),
            fm: f((a + b) / 2.0),
            fb: f(b),
        }
    }

    fn estimate(&self) -> f64 {
        (self.b - self.a) / 6.0 * (self.fa + 4.0 * self.fm + self.fb)
    }

    fn halves(&self) -> (Piece, Piece) {
        let middle = (self.a + self.b) / 2.0;
        let left = Piece {
            a: self.a,
            b: middle,
            fa: self.fa,
            fm: f((self.a + middle) / 2.0),
            fb: self.fm,
        };
        let right = Piece {
            a: middle,
            b: self.b,
            fa: self.fm,
            fm: f((middle + self.b) / 2.0),
            fb: self.fb,
        };
        (left, right)
    }
}

/// The halves, if the estimate is not good enough yet.
fn refine(piece: &Piece, tolerance: f64) -> Result<f64, (Piece, Piece)> {
    let (left, right) = piece.halves();
    let finer = left.estimate() + right.estimate();
    if (finer - piece.estimate()).abs() <= 15.0 * tolerance || piece.b - piece.a < 1e-12 {
        Ok(finer)
    } else {
        Err((left, right))
    }
}

fn integrate_alone(piece: &Piece, tolerance: f64) -> f64 {
    match refine(piece, tolerance) {
        Ok(estimate) => estimate,
        Err((left, right)) => {
            integrate_alone(&left, tolerance / 2.0) + integrate_alone(&right, tolerance / 2.0)
        }
    }
}

fn integrate(piece: &Piece, tolerance: f64) -> f64 {
    match refine(piece, tolerance) {
        Ok(estimate) => estimate,
        Err((left, right)) => {
            let (a, b) = blitz::join(
                || integrate(&left, tolerance / 2.0),
                || integrate(&right, tolerance / 2.0),
            );
            a + b
        }
    }
}

fn main() {
    let recipe = Recipe::start("numerical integration: adaptive Simpson, a fork at every halving");
    let tolerance = 10_f64.powi(-(recipe.size(13, 9) as i32));
    let whole = Piece::whole(0.0, 4.0);
    let integral = recipe.compare(
        || integrate_alone(&whole, tolerance),
        || integrate(&whole, tolerance),
    );
    assert!(integral.is_finite() && integral > 0.0);
    println!("  integral {integral:.9}, tolerance {tolerance:.0e}");
}
