package simulation_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/sca"
	"causeway/core/transaction"
	"causeway/core/wallet"
	"causeway/ledger"
	"causeway/ports"
)

// scaTables is what the service stores about the strong customer authentication of payers.
type scaTables struct {
	scaAccounts map[ident.Customer]sca.Account
	challenges  map[ident.SCAChallenge]sca.Challenge
	allowed     map[ident.Transaction][]transaction.PaymentAuthorization
	// loggedOut are customers whose session has ended.
	loggedOut map[ident.Customer]bool
}

func newSCATables() scaTables {
	return scaTables{scaAccounts: map[ident.Customer]sca.Account{}, challenges: map[ident.SCAChallenge]sca.Challenge{},
		allowed: map[ident.Transaction][]transaction.PaymentAuthorization{}, loggedOut: map[ident.Customer]bool{}}
}

// protectedRegion is that of the customers who authorise their payments: with a passkey or, on the platform that sends codes, with one.
const protectedRegion = "DE"

// isProtected reports whether a customer authorises its payments.
func (m *memory) isProtected(c ident.Customer) bool { return m.customers[c].Region == protectedRegion }

// RelyingParty implements ports.WalletProofs.
func (signatures) RelyingParty(platform.Platform) (wallet.RelyingParty, error) {
	return wallet.RelyingParty{ID: "localhost"}, nil
}

// AcceptsSCATestCode implements ports.WalletProofs.
func (signatures) AcceptsSCATestCode(string) bool { return false }

// CheckPasskey implements ports.WalletProofs: the signature is what was signed.
func (signatures) CheckPasskey(_ context.Context, _ platform.Platform, key wallet.PasskeyKey, challenge []byte, a wallet.Assertion) (
	wallet.PasskeyKey, error) {
	if key.UserVerified = true; a.Signature != string(challenge) {
		return key, fault.Invalid(fault.Field{Field: "passkeyAssertion", Message: "is wrong"})
	}
	return key, nil
}

func (u *tx) LockPlatformShared(_ context.Context, p ident.Platform) (platform.Platform, error) {
	return u.platforms[p], nil
}

func (u *tx) LockCustomer(_ context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error) {
	u.writes(p)
	return u.customers[id], nil
}

func (u *tx) LockSCAAccount(_ context.Context, p ident.Platform, id ident.Customer) (sca.Account, error) {
	if a, exists := u.scaAccounts[id]; exists {
		return a, nil
	}
	return sca.Account{Platform: p, Customer: id}, nil
}

func (u *tx) SaveSCAAccount(_ context.Context, a sca.Account) error {
	u.writes(a.Platform)
	put(u.memory, u.scaAccounts, a.Customer, a)
	return nil
}

func (m *memory) passkeyOf(p ident.Platform, id ident.Customer) []sca.Credential {
	if !m.isProtected(id) {
		return nil
	}
	return []sca.Credential{{Platform: p, Customer: id, Factor: sca.Passkey, Passkey: &wallet.PasskeyKey{CredentialID: []byte("key")}}}
}

func (u *tx) SCACredentials(_ context.Context, p ident.Platform, id ident.Customer) ([]sca.Credential, error) {
	return u.passkeyOf(p, id), nil
}

func (s store) SCACredentials(ctx context.Context, p ident.Platform, id ident.Customer) ([]sca.Credential, error) {
	return s.world.passkeyOf(p, id), s.read(ctx, "credentials")
}

// SaveSCACredential stores nothing: passkeys are simulated without counters.
func (u *tx) SaveSCACredential(context.Context, sca.Credential) error { return nil }

// rightCode is every code. Its hash is bound to the challenge, the payment and the phone all the same.
const rightCode = "246810"

// NewSCACode implements ports.WalletProofs.
func (signatures) NewSCACode(int) (string, error) { return rightCode, nil }

func (u *tx) SCACodeHash(_ context.Context, text string) (wallet.CodeHash, error) {
	return sha256.Sum256([]byte(text)), nil
}

func (m *memory) latestChallenge(c ident.Customer, purpose sca.Purpose, subject sca.Digest) (latest sca.Challenge, found bool) {
	for _, id := range sortedKeys(m.challenges) {
		if asked := m.challenges[id]; asked.Customer == c && asked.Purpose == purpose && asked.Subject == subject &&
			!asked.CreatedAt.Before(latest.CreatedAt) {
			latest, found = asked, true
		}
	}
	return latest, found
}

func (u *tx) LatestSCAChallenge(_ context.Context, _ ident.Platform, c ident.Customer, purpose sca.Purpose,
	subject sca.Digest) (sca.Challenge, bool, error) {
	latest, found := u.latestChallenge(c, purpose, subject)
	return latest, found, nil
}

func (s store) LatestSCAChallenge(ctx context.Context, _ ident.Platform, c ident.Customer, purpose sca.Purpose,
	subject sca.Digest) (sca.Challenge, bool, error) {
	latest, found := s.world.latestChallenge(c, purpose, subject)
	return latest, found, s.read(ctx, "challenge")
}

func (u *tx) SaveSCAChallenge(_ context.Context, c sca.Challenge) error {
	u.writes(c.Platform)
	put(u.memory, u.challenges, c.ID, c)
	return nil
}

func (u *tx) SCASession(_ context.Context, _ ident.Platform, id ident.Customer, _ time.Time) (sca.Session, error) {
	if u.loggedOut[id] {
		return sca.Session{}, sca.ErrSessionRequired
	}
	return sca.Session{Customer: id}, nil
}

func (u *tx) LowValueUse(_ context.Context, _ ident.Platform, c ident.Customer) (used sca.LowValueUse, _ error) {
	var all []transaction.PaymentAuthorization
	var proven time.Time
	for _, authorizations := range u.allowed {
		for _, a := range authorizations {
			if a.Customer != c {
				continue
			}
			if all = append(all, a); a.Exemption == "" && a.At.After(proven) {
				proven = a.At
			}
		}
	}
	for _, a := range all {
		if a.Exemption == sca.LowValue && a.At.After(proven) {
			used.Payments, used.Total = used.Payments+1, used.Total+a.EuroCents
		}
	}
	return used, nil
}

func (u *tx) PaymentAuthorizations(_ context.Context, key ports.TransactionKey) ([]transaction.PaymentAuthorization, error) {
	return slices.Clone(u.allowed[key.ID]), nil
}

func (s store) PaymentAuthorizations(ctx context.Context, key ports.TransactionKey) ([]transaction.PaymentAuthorization, error) {
	return slices.Clone(s.world.allowed[key.ID]), s.read(ctx, "authorizations")
}

// SavePaymentAuthorizations stores them, and fails the run if one is repeated or has no answered challenge.
func (u *tx) SavePaymentAuthorizations(_ context.Context, authorizations []transaction.PaymentAuthorization) error {
	for _, a := range authorizations {
		u.writes(a.Platform)
		for _, before := range u.allowed[a.Transaction] {
			if before.Purpose == a.Purpose {
				u.world.fail("%s is authorised twice for %q", a.Transaction, a.Purpose)
			}
		}
		if c := u.challenges[a.Challenge]; a.Exemption == "" && (c.EndedAt.IsZero() || c.Attempts >= sca.MaxAttempts ||
			c.Customer != a.Customer || c.Purpose != a.Purpose || c.Subject != a.Digest || !u.now.Before(c.ExpiresAt)) {
			u.world.fail("%s is authorised with the challenge %+v", a.Transaction, c)
		}
		put(u.memory, u.allowed, a.Transaction, append(slices.Clone(u.allowed[a.Transaction]), a))
	}
	return nil
}

// authorize answers what the payer of a quote is asked: rightly, wrongly, or with the answer to something else. If no payer is
// asked, it executes a quote.
func (w *world) authorize(i *intent, amount int64, in ident.InternalAccount, out ident.ExternalAccount) {
	var asked []ident.Quote
	for _, id := range w.quotesOf(i.platform) {
		if t := w.transactions[w.quotes[id].Transaction]; t.State.Status == transaction.PendingAuthorization ||
			t.Authorization != transaction.AuthorizationNotNeeded && w.chance(20) {
			asked = append(asked, id)
		}
	}
	if len(asked) == 0 {
		w.execute(i, amount, in, out)
		return
	}
	id := pick(w, asked)
	t := w.transactions[w.quotes[id].Transaction]
	c, _ := w.latestChallenge(t.Customer, t.NextPurpose(w.provenOf(t.ID)), t.AuthorizationDigest())
	code := rightCode
	switch w.random.IntN(choose(w.guesses, 3, 6)) {
	case 0, 1:
		c.PasskeyChallenge, code = nil, "135790"
	case 2:
		c = w.challenges[pick(w, append(sortedKeys(w.challenges), c.ID))]
	}
	proof := sca.Proof{Factor: c.Factor, Code: code, Assertion: wallet.Assertion{Signature: "signed"}}
	if len(c.PasskeyChallenge) > 0 {
		proof.Assertion.Signature = string(c.PasskeyChallenge)
	}
	i.name, i.executes = fmt.Sprintf("answer of %s to %s", id, c.ID), id
	i.do = func(ctx context.Context, p *process, r *ports.IdempotentRequest) (ident.Transaction, error) {
		done, err := p.service.AuthorizeQuote(ctx, i.platform, id, ident.SCAChallenge{}, proof, r)
		return done.Quote.Transaction, err
	}
}

func (m *memory) provenOf(id ident.Transaction) []sca.Purpose {
	var proven []sca.Purpose
	for _, a := range m.allowed[id] {
		proven = append(proven, a.Purpose)
	}
	return proven
}

// changeLogin ends the session of a customer, or opens one again and lifts its lock, as an operator does.
func (w *world) changeLogin() {
	for _, id := range sortedKeys(w.customers) {
		if !w.isProtected(id) || !w.chance(3) {
			continue
		}
		w.loggedOut[id] = w.chance(4)
		delete(w.scaAccounts, id)
		w.record("customer %s is logged out: %t", id, w.loggedOut[id])
	}
}

// checkProven checks that no money of a customer who authorises its payments moves without a proof of exactly this payment, or an
// exemption of its platform.
func (w *world) checkProven(t transaction.Transaction) {
	if t.Type != transaction.Outgoing || !w.isProtected(t.Customer) {
		return
	}
	own := w.internal[t.Source.InternalAccount].Customer == t.Customer && !t.Source.InternalAccount.IsZero() ||
		w.external[t.Source.ExternalAccount].Customer == t.Customer && !t.Source.ExternalAccount.IsZero()
	if own && t.Authorization == transaction.AuthorizationNotNeeded {
		w.fail("%s of %s needs no authorization", t.ID, t.Customer)
	}
	moved := slices.ContainsFunc(w.kinds[t.ID], func(k ledger.Kind) bool {
		return k == ledger.KindConverted || k == ledger.KindTransferOut || k == ledger.KindWalletDebit
	})
	if t.Authorization == transaction.AuthorizationNotNeeded || !moved && t.State.Status != transaction.Processing {
		return
	}
	allowed := w.allowed[t.ID]
	if len(allowed) == 1 && allowed[0].Exemption != "" {
		e := w.platforms[t.Platform].SCAExemptions
		if !slices.Contains(e.Names(), string(allowed[0].Exemption)) {
			w.fail("%s has the exemption %s", t.ID, allowed[0].Exemption)
		}
		return
	}
	if missing := t.NextPurpose(w.provenOf(t.ID)); missing != "" {
		w.fail("%s is %s without a proof for %s", t.ID, t.State, missing)
	}
	for _, a := range allowed {
		if a.Customer != t.Customer || w.challenges[a.Challenge].Subject != t.AuthorizationDigest() {
			w.fail("%s has the proof of something else: %+v", t.ID, a)
		}
	}
}

// checkLowValue checks that the exempt payments of a customer stay within the limits of the regulation.
func (w *world) checkLowValue() {
	for id := range w.customers {
		used, _ := (&tx{memory: w.memory, world: w}).LowValueUse(context.Background(), ident.Platform{}, id)
		if used.Payments > 5 || used.Total > 100_00 {
			w.fail("%s has paid %d times, %d euro cents, without a proof", id, used.Payments, used.Total)
		}
	}
}

// scaOutcomes counts what payers have authorised.
func (w *world) scaOutcomes(counts map[string]int) {
	for _, t := range w.transactions {
		if t.State.Reason == transaction.SCANotCompleted {
			counts["payment that was not authorised"]++
		}
		if t.State.Status == transaction.Completed && t.Authorization != transaction.AuthorizationNotNeeded {
			counts["payment that is "+string(t.Authorization)]++
		}
	}
	for _, c := range w.challenges {
		if counts["wrong proof"] += c.Attempts; c.Attempts > 0 && !c.EndedAt.IsZero() {
			counts["proof after another that was refused"]++
		}
	}
	for _, authorizations := range w.allowed {
		for _, a := range authorizations {
			counts[choose(a.Exemption == "", "proof for "+string(a.Purpose), "exemption "+string(a.Exemption))]++
			counts["proof with "+string(a.Factor)]++
		}
	}
}
