//! Tests whether integers are prime.

use basalt_error::Result;
use basalt_types::DataType;

use super::numeric::map1;
use crate::{Call, Resolved, ScalarFunction};

/// Functions of prime numbers.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "isPrime",
        syntax: "isPrime(n)",
        description: "Returns 1 if the unsigned integer is a prime number.",
        resolve: |call| is_prime_function(call, 1),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "isProbablePrime",
        syntax: "isProbablePrime(n[, rounds])",
        description: "Returns 1 if the unsigned integer is a prime number; exact below 2^64.",
        resolve: |call| is_prime_function(call, 2),
        ..ScalarFunction::BASE
    },
];

fn is_prime_function(call: &Call<'_>, max_args: usize) -> Result<Resolved> {
    call.expect_args(1..=max_args)?;
    call.expect_type(0, |t| t.is_unsigned() && *t != DataType::Bool)?;
    if call.args.len() > 1 {
        call.expect_type(1, DataType::is_unsigned)?;
    }
    Resolved::new(DataType::UInt8, |columns, num_rows| {
        map1::<u64, u8>(&columns[0], num_rows, |n| u8::from(is_prime(n)))
    })
}

/// These witnesses decide the Miller-Rabin test for every number below 2^64.
const WITNESSES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];

/// The Miller-Rabin test.
fn is_prime(n: u64) -> bool {
    if n < 2 {
        return false;
    }
    for prime in WITNESSES {
        if n.is_multiple_of(prime) {
            return n == prime;
        }
    }
    let twos = (n - 1).trailing_zeros();
    let odd = (n - 1) >> twos;
    WITNESSES.iter().all(|witness| {
        let mut power = power_mod(*witness, odd, n);
        if power == 1 || power == n - 1 {
            return true;
        }
        for _ in 1..twos {
            power = multiply_mod(power, power, n);
            if power == n - 1 {
                return true;
            }
        }
        false
    })
}

fn multiply_mod(a: u64, b: u64, modulus: u64) -> u64 {
    // A remainder of a 64-bit modulus fits 64 bits.
    (u128::from(a) * u128::from(b) % u128::from(modulus)) as u64
}

fn power_mod(mut base: u64, mut exponent: u64, modulus: u64) -> u64 {
    let mut power = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = multiply_mod(power, base, modulus);
        }
        base = multiply_mod(base, base, modulus);
        exponent >>= 1;
    }
    power
}
