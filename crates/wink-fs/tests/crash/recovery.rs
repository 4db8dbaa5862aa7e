//! Death of those who mend what others left that died.

use std::fs;
use std::path::Path;

use crate::scene::{check_whole, copy, kill_at, lines, list_calls, template, trace};

/// A restore dies between two renames; then three who open the workspace die as well.
#[test]
fn fault_35_recovery_that_is_killed_goes_on_the_next_time() {
    let before = template(&|_| ());
    let after = copy(before.path());
    let all = list_calls("restore", after.path());
    let states = [lines(before.path()), lines(after.path())];
    let journal = |place: &Path| {
        let holder = fs::read_dir(place.join(".wink-staging")).ok()?;
        holder.flatten().map(|entry| entry.path().join("journal")).find(|path| path.exists())
    };
    let mut interrupted = 0;
    let renames = all.iter().filter(|(name, _)| name == "renameat2");
    for call in renames {
        let place = copy(before.path());
        kill_at("restore", place.path(), call);
        if journal(place.path()).is_none() {
            continue;
        }
        interrupted += 1;
        for count in 1..=3 {
            let name = ["renameat2", "unlinkat"][interrupted % 2].to_owned();
            let inject = format!("inject={name}:signal=KILL:when={count}");
            trace("open", place.path(), &["-o", "/dev/null", "-e", &inject]);
        }
        check_whole("recovery", call, place.path(), &states);
        assert_eq!(lines(place.path()), states[1], "what was written down is done");
    }
    assert!(interrupted > 3, "{interrupted} restores died with a journal");
}
