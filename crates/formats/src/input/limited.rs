//! A source that ends with an error where its query holds too much: readers of whole files ask nobody.

use std::io::{BufRead, Error, Read, Result};

use super::Source;

/// A source whose bytes are kept, or may be.
pub(super) struct Limited(pub(super) Source);

fn check() -> Result<()> {
    basalt_profile::check_limit().map_err(Error::other)
}

impl Read for Limited {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        check()?;
        self.0.read(buffer)
    }
}

impl BufRead for Limited {
    fn fill_buf(&mut self) -> Result<&[u8]> {
        check()?;
        self.0.fill_buf()
    }

    fn consume(&mut self, len: usize) {
        self.0.consume(len);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, Cursor, Read};

    use super::Limited;

    #[test]
    fn the_bytes_are_those_of_the_source() {
        let mut source = Limited(Box::new(Cursor::new(b"a\nbc".to_vec())));
        let mut line = String::new();
        source.read_line(&mut line).expect("a line");
        assert_eq!(line, "a\n");
        let mut rest = Vec::new();
        source.read_to_end(&mut rest).expect("the rest");
        assert_eq!(rest, b"bc");
    }
}
