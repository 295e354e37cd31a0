//! Blurs a grey image with a 5 by 5 Gaussian kernel.
//!
//! Every output pixel depends on input pixels only, so rows are independent: `par_chunks_mut` hands each row to whoever
//! comes, and the row's number tells which input rows it needs.

use blitz::prelude::*;
use blitz_examples::{Random, Recipe};

const KERNEL: [f32; 5] = [1.0, 4.0, 6.0, 4.0, 1.0];

struct Image {
    width: usize,
    pixels: Vec<f32>,
}

impl Image {
    fn noise(width: usize, height: usize) -> Self {
        let mut random = Random::new(1);
        let pixels = (0..width * height).map(|_| random.unit() as f32);
        Image {
            width,
            pixels: pixels.collect(),
        }
    }

    fn height(&self) -> usize {
        self.pixels.len() / self.width
    }

    /// The pixel there; the image goes on beyond its edges with the edge's pixel.
    fn at(&self, x: isize, y: isize) -> f32 {
        let x = x.clamp(0, self.width as isize - 1) as usize;
        let y = y.clamp(0, self.height() as isize - 1) as usize;
        self.pixels[y * self.width + x]
    }

    fn blur_row(&self, y: usize, row: &mut [f32]) {
        for (x, pixel) in row.iter_mut().enumerate() {
            let mut sum = 0.0;
            for (dy, vertical) in (-2..).zip(KERNEL) {
                for (dx, horizontal) in (-2..).zip(KERNEL) {
                    sum += vertical * horizontal * self.at(x as isize + dx, y as isize + dy);
                }
            }
            *pixel = sum / 256.0;
        }
    }
}

fn main() {
    let recipe = Recipe::start("image filter: a 5 by 5 Gaussian blur");
    let side = recipe.size(1600, 160);
    let image = Image::noise(side, side);
    let blurred = recipe.compare(
        || {
            let mut output = vec![0.0; image.pixels.len()];
            let rows = output.chunks_mut(image.width).enumerate();
            rows.for_each(|(y, row)| image.blur_row(y, row));
            output
        },
        || {
            let mut output = vec![0.0; image.pixels.len()];
            let rows = output.par_chunks_mut(image.width).enumerate();
            rows.for_each(|(y, row)| image.blur_row(y, row));
            output
        },
    );
    // A blur keeps the mean of the image, but for its edges.
    let mean = blurred.iter().sum::<f32>() / blurred.len() as f32;
    assert!((mean - 0.5).abs() < 0.05, "the mean is {mean}");
    println!("  {side} x {side} pixels, mean {mean:.3}");
}
