// Package sca holds the rules of strong customer authentication (PSD2, Delegated Regulation (EU) 2018/389): which customers need
// it, their factors, the challenges that they answer, what wrong answers lead to, sessions, and resets of factors.
//
// There is one mechanism for every purpose. A Challenge asks a customer for a one-time code or a passkey, and is bound to the
// digest of what the answer authorises, so that an answer counts for nothing else: amount, currency and payee of a payment
// (dynamic linking). Decide judges a Proof; whether it is right or wrong, the Outcome has to be stored in the unit of work that has
// locked the Account, also if the request is then refused. So guesses at the same time have no more tries than those one after
// the other.
//
//   - Whether a customer needs it: platform.Platform.RequiresSCA(region).
//   - A payment: NewChallenge, then Decide with the digest of the quote as it is now. Factor.AuthorizesPayments excludes TOTP.
//   - Storage: LockSCAAccount and SaveSCAAccount, SCACredentials and SaveSCACredential, LatestSCAChallenge and SaveSCAChallenge,
//     SCASession. Units of work lock the customer's row, then its Account.
//   - Shared by use cases: app/internal/strongauth, which starts, sends again and judges challenges.
package sca
