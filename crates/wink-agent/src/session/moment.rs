//! Times as they are kept: in UTC, to the millisecond.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

/// Cuts a time down to its millisecond, towards the past.
pub(super) fn to_millis(time: SystemTime) -> SystemTime {
    let epoch = SystemTime::UNIX_EPOCH;
    let cut = match time.duration_since(epoch) {
        Ok(after) => epoch.checked_add(Duration::from_millis(whole_millis(after))),
        Err(before) => {
            let before = before.duration();
            let up = u64::from(before.subsec_nanos() % 1_000_000 > 0);
            epoch.checked_sub(Duration::from_millis(whole_millis(before).saturating_add(up)))
        }
    };
    cut.unwrap_or(time)
}

fn whole_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

pub(super) fn serialize<S: Serializer>(time: &SystemTime, to: S) -> Result<S::Ok, S::Error> {
    let time = Timestamp::try_from(*time).map_err(ser::Error::custom)?;
    time.to_string().serialize(to)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<SystemTime, D::Error> {
    let text = String::deserialize(from)?;
    let time: Timestamp = text.parse().map_err(de::Error::custom)?;
    Ok(to_millis(time.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_cut_down_to_its_millisecond() {
        let at = |nanos| SystemTime::UNIX_EPOCH + Duration::from_nanos(nanos);
        assert_eq!(to_millis(at(1_999_999)), at(1_000_000));
        assert_eq!(to_millis(at(2_000_000)), at(2_000_000));
        let before = SystemTime::UNIX_EPOCH - Duration::from_nanos(1);
        assert_eq!(to_millis(before), SystemTime::UNIX_EPOCH - Duration::from_millis(1));
    }
}
