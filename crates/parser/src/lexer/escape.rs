//! Decodes the text of quoted tokens.

/// The bytes of a token in quotes of any kind, quotes included in `text`.
///
/// `\b \f \n \r \t \0 \a \v \e \xHH` are decoded, `\N` is nothing, a backslash before another
/// character that needs none stays (`\d`, `\%`).
pub fn decode_quoted(text: &[u8]) -> Vec<u8> {
    for open in ["‘", "“"] {
        if let Some(rest) = text.strip_prefix(open.as_bytes()) {
            return rest[..rest.len().saturating_sub(3)].to_vec();
        }
    }
    let Some((&quote, rest)) = text.split_first() else {
        return Vec::new();
    };
    let body = rest.strip_suffix(&[quote]).unwrap_or(rest);
    let mut out = Vec::with_capacity(body.len());
    let mut at = 0;
    while let Some(&b) = body.get(at) {
        at += 1;
        if b == b'\\' {
            at += decode_escape(&body[at..], &mut out);
            continue;
        }
        out.push(b);
        if b == quote {
            at += 1;
        }
    }
    out
}

/// Whether the text ends within `\xHH`.
pub fn has_cut_escape(text: &[u8]) -> bool {
    let mut at = 0;
    let body = text
        .get(1..text.len().saturating_sub(1))
        .unwrap_or_default();
    while let Some(&b) = body.get(at) {
        at += match (b, body.get(at + 1)) {
            (b'\\', Some(b'x')) if body.len() < at + 4 => return true,
            (b'\\', Some(b'x')) => 4,
            (b'\\', _) => 2,
            _ => 1,
        };
    }
    false
}

/// Decodes what follows a backslash and returns how many bytes that took.
fn decode_escape(rest: &[u8], out: &mut Vec<u8>) -> usize {
    let Some(&b) = rest.first() else {
        out.push(b'\\');
        return 0;
    };
    let decoded = match b {
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'0' => 0,
        b'a' => 0x07,
        b'v' => 0x0b,
        b'e' => 0x1b,
        b'N' => return 1,
        b'x' => {
            // What is no digit counts as 255, as in ClickHouse.
            let digit = |d: u8| char::from(d).to_digit(16).unwrap_or(0xff);
            if let Some([high, low]) = rest.get(1..3) {
                out.push((digit(*high) * 16 + digit(*low)) as u8);
                return 3;
            }
            out.extend_from_slice(b"\\x");
            return 1;
        }
        b'\\' | b'\'' | b'"' | b'`' | b'/' | b'=' => b,
        _ => {
            if b >= 0x20 && b != 0x7f {
                out.push(b'\\');
            }
            b
        }
    };
    out.push(decoded);
    1
}

/// The body of a `$tag$..$tag$` token.
pub fn decode_heredoc(text: &[u8]) -> Vec<u8> {
    let Some(tag) = text
        .iter()
        .skip(1)
        .position(|b| *b == b'$')
        .map(|at| at + 2)
    else {
        return text.to_vec();
    };
    text.get(tag..text.len().saturating_sub(tag))
        .unwrap_or_default()
        .to_vec()
}

/// The bytes of `x'..'` or `b'..'`; `None` if a character is no digit.
pub fn decode_hex_string(text: &[u8]) -> Option<Vec<u8>> {
    let radix = if matches!(text.first(), Some(b'x' | b'X')) {
        16
    } else {
        2
    };
    let per_byte = if radix == 16 { 2 } else { 8 };
    let digits = text.get(2..text.len().checked_sub(1)?)?;
    // The first byte may have fewer digits: x'1' is x'01'.
    let first = digits.len() % per_byte;
    let (head, tail) = digits.split_at(first);
    let chunks = (!head.is_empty())
        .then_some(head)
        .into_iter()
        .chain(tail.chunks(per_byte));
    chunks
        .map(|chunk| {
            chunk.iter().try_fold(0u8, |byte, d| {
                let digit = char::from(*d).to_digit(radix)?;
                byte.checked_mul(radix as u8)?.checked_add(digit as u8)
            })
        })
        .collect()
}
