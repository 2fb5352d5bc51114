//! BIP-32 paths below a group key.

use crate::error::ProtocolError;

/// Deepest path accepted.
const MAX_DEPTH: usize = 10;
const HARDENED: u32 = 1 << 31;

/// Child numbers of a path such as `m/60/0`; of `m`, none.
///
/// # Errors
/// Anything but `m` followed by non-hardened child numbers in canonical decimal. Hardened children cannot be derived from
/// shares, and one child has one spelling.
pub fn parse(path: &str) -> Result<Vec<u32>, ProtocolError> {
    let invalid = || ProtocolError::argument("derivation path is invalid or hardened");
    let mut parts = path.split('/');
    if parts.next() != Some("m") {
        return Err(invalid());
    }
    let children = parts
        .map(|part| {
            let child: u32 = part.parse().map_err(|_| invalid())?;
            if child < HARDENED && child.to_string() == part {
                Ok(child)
            } else {
                Err(invalid())
            }
        })
        .collect::<Result<Vec<_>, _>>()?;
    if children.len() > MAX_DEPTH {
        return Err(invalid());
    }
    Ok(children)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn takes_canonical_non_hardened_paths() {
        assert_eq!(parse("m").unwrap(), Vec::<u32>::new());
        assert_eq!(parse("m/60/0").unwrap(), vec![60, 0]);
        assert_eq!(parse("m/2147483647").unwrap(), vec![2_147_483_647]);
    }

    #[test]
    fn refuses_everything_else() {
        for path in ["", "60/0", "m/", "m/60'", "m/60h", "m/+1", "m/01", "m/-1", "m/2147483648", "M/1", "m//1", "m/1/"]
        {
            assert!(parse(path).is_err(), "{path}");
        }
        assert!(parse(&format!("m{}", "/1".repeat(11))).is_err());
    }
}
