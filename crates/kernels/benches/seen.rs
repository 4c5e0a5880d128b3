//! Times noting which bytes occur beside the loop that sets a flag a byte.
//!
//! `cargo bench -p basalt-kernels --bench seen`

mod measure;

use std::hint::black_box;

use basalt_adapt::Random;
use basalt_kernels::seen::mark;

fn byte_by_byte(keys: &[u8], flags: &mut [bool; 256]) {
    keys.iter().for_each(|key| flags[usize::from(*key)] = true);
}

fn main() {
    let mut random = Random::new(7);
    for num_different in [2, 10, 16, 17, 256] {
        let keys: Vec<u8> = (0..1 << 20)
            .map(|_| (random.bits() % num_different) as u8)
            .collect();
        let keys = keys.as_slice();
        let run = |mark: fn(&[u8], &mut [bool; 256])| -> Box<dyn FnMut() + '_> {
            let mut flags = [false; 256];
            Box::new(move || {
                keys.chunks(1 << 16).for_each(|keys| mark(keys, &mut flags));
                black_box(&flags);
            })
        };
        let timed = vec![("byte_by_byte", run(byte_by_byte)), ("kernel", run(mark))];
        let title = format!("{num_different} bytes, 1 Mi rows");
        measure::print(&title, keys.len(), 1, timed);
    }
}
