//! One filesystem protocol for AI agents.
