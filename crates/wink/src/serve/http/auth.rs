//! Who may use the server: every client that knows its token.
//!
//! A program sends the token with each request. A browser is given an address that works once, and
//! gets a cookie for it that scripts cannot read and other sites cannot send.

use std::io;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use axum::http::header::{AUTHORIZATION, COOKIE};
use axum::http::{HeaderMap, StatusCode};

use crate::serve::http::origin_guard::{HttpRefusal, only_value};
use crate::serve::token::Token;
use crate::sys::lock::lock;

/// Requests without the token that are answered as such in a time window; more get `TOO_MANY`.
const MOST_FAILURES: u32 = 20;
const WINDOW: Duration = Duration::from_secs(10);

const UNKNOWN: HttpRefusal = (
    StatusCode::UNAUTHORIZED,
    "Unauthorized: send `Authorization: Bearer TOKEN` with the token that `wink serve` printed.\n",
);
const USED: HttpRefusal = (
    StatusCode::UNAUTHORIZED,
    "Unauthorized: this address was already used; `wink serve` prints a new one at each start.\n",
);
const TOO_MANY: HttpRefusal = (
    StatusCode::TOO_MANY_REQUESTS,
    "Too many requests without the right token: wait ten seconds, then send the right one.\n",
);

/// The secrets of a server.
#[derive(Debug)]
pub(crate) struct Auth {
    token: Token,
    cookie_name: String,
    /// What opens the page once, and whether it did.
    ticket: Mutex<(Token, bool)>,
    /// What the browser that opens the page receives; until then, no client knows it.
    cookie: Token,
    failures: Mutex<(Instant, u32)>,
}

impl Auth {
    /// Creates the secrets of a server on a port, and the ticket for one browser.
    pub(crate) fn new(token: Token, port: u16) -> io::Result<(Self, Token)> {
        let ticket = Token::new()?;
        let cookie = Token::new()?;
        // Browsers send a cookie to every port of a host, so each server has its own.
        let cookie_name = format!("wink-{port}");
        let failures = Mutex::new((Instant::now(), 0));
        let given = Mutex::new((ticket.clone(), false));
        Ok((Self { token, cookie_name, ticket: given, cookie, failures }, ticket))
    }

    /// Admits a request that carries the token, or the cookie that was given for it.
    pub(crate) fn admit(&self, headers: &HeaderMap) -> Result<(), HttpRefusal> {
        let is_token = || bearer(headers).is_some_and(|given| self.token.is(given));
        if is_token() || self.has_cookie(headers) { Ok(()) } else { Err(self.failed()) }
    }

    /// Redeems the ticket, which works once; returns the cookie for the browser that sent it.
    pub(crate) fn exchange(&self, given: &str) -> Result<String, HttpRefusal> {
        let mut ticket = lock(&self.ticket);
        if !ticket.0.is(given) {
            return Err(self.failed());
        }
        if std::mem::replace(&mut ticket.1, true) {
            return Err(USED);
        }
        let name = &self.cookie_name;
        let value = self.cookie.reveal();
        Ok(format!("{name}={value}; HttpOnly; SameSite=Strict; Path=/"))
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let given = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let pairs =
            given.flat_map(|value| value.split(';')).filter_map(|it| it.trim().split_once('='));
        pairs.filter(|(name, _)| *name == self.cookie_name).any(|(_, value)| self.cookie.is(value))
    }

    /// Counts a failure, to slow down a client that guesses; one that knows the token is not slowed down.
    fn failed(&self) -> HttpRefusal {
        let mut failures = lock(&self.failures);
        if failures.0.elapsed() > WINDOW {
            *failures = (Instant::now(), 0);
        }
        failures.1 = failures.1.saturating_add(1);
        if failures.1 > MOST_FAILURES { TOO_MANY } else { UNKNOWN }
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = only_value(headers, &AUTHORIZATION)?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
