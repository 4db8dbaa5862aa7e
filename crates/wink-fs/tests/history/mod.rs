//! Snapshots, operations, going back: the same on memory and on a host directory with a store.

mod clock;
mod execute;
mod faults;
mod kept;
mod modes;
mod older;
mod outside;
mod plan_once;
mod scene;
mod snapshot_after;
mod snapshots;
mod space;
mod turns;
mod undo;
mod unmounted;
