package simulation_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"causeway/app/payments"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/core/wallet"
	"causeway/ports"
)

// chains is the connection of a process to the chain of wallets. Coins that move between a wallet and
// the service stay on the chain.
type chains struct{ rails }

func (c chains) ChainFor(ident.Platform) (ports.WalletChain, error) { return c, nil }

func (c chains) Settlement(context.Context) (*wallet.Settlement, error) { return nil, nil }

func (c chains) Debit(ctx context.Context, transfers []ports.WalletTransfer) []ports.Outcome {
	return callBank(ctx, c.rails, "debit", transfers, func(t ports.WalletTransfer) ports.Outcome {
		b := c.world.bank
		if t.Certificate.Statement != t.Statement() || t.Payload != c.world.transactions[t.Transaction].Payload || t.Payload == "" {
			c.world.fail("the wallet of %s did not sign its transfer", t.Transaction)
		}
		return b.settle(b.order(b.collections, t.Transaction.UUID(), t.Statement()), func() {})
	})
}

func (c chains) Credit(ctx context.Context, credits []ports.WalletCredit) []ports.Outcome {
	return callBank(ctx, c.rails, "credit", credits, func(credit ports.WalletCredit) ports.Outcome {
		id, b := credit.Transaction.ID.UUID(), c.world.bank
		if credit.Credited != (credit.Transaction.Type == transaction.Incoming) {
			c.world.fail("the chain is asked to pay %s as if its wallet had it: %t", id, credit.Credited)
		}
		if credit.Transaction.Type == transaction.Incoming { // over UMA, which the ledger has settled: it is taken sooner or later
			if t := c.world.transactions[credit.Transaction.ID]; t.State.Status != transaction.Completed {
				c.world.fail("%s is %s, and is paid to its wallet", id, t.State)
			}
			return ports.Outcome{Verdict: ports.Done}
		}
		orders := b.payouts
		if credit.Refunded != nil {
			orders = b.refunds
			if b.payouts[id].done() && !b.payouts[id].returned {
				c.world.fail("%s is refunded although it was paid out", id)
			}
		}
		o := b.order(orders, id, fmt.Sprintf("%s to %s", credit.Amount, credit.Wallet.Account))
		o.returns = false
		return b.settle(o, func() {})
	})
}

// custody has the keys of all wallets.
type custody struct {
	ports.Custody
	*process
}

func (c custody) Sign(ctx context.Context, _ ports.WalletID, statement string) (wallet.Certificate, error) {
	if c.pause(ctx, "sign "+statement, readFates) == failBefore {
		return wallet.Certificate{}, errRolledBack
	}
	return wallet.Certificate{Statement: statement}, nil
}

// WalletKey does not fail: of several calls for one wallet at the same time any could.
func (custody) WalletKey(context.Context, ports.WalletID) (wallet.Key, error) {
	return wallet.Key{}, nil
}

// signatures are the proofs of customers: a signature is the name of a session and the payload.
type signatures struct{ ports.WalletProofs }

func (signatures) CheckSignature(payload, signature string, sessions []wallet.Session) (wallet.Session, error) {
	i := slices.IndexFunc(sessions, func(s wallet.Session) bool { return sign(s, payload) == signature })
	if i < 0 {
		return wallet.Session{}, wallet.InvalidSignature("No session signed.")
	}
	return sessions[i], nil
}

func sign(s wallet.Session, payload string) string { return s.ID.String() + " " + payload }

var walletProofs = ports.WalletProofsByEnvironment{platform.Sandbox: signatures{}}

func (s store) ActiveWalletSessions(ctx context.Context, id ports.WalletID, now time.Time) ([]wallet.Session, error) {
	if err := s.read(ctx, "sessions"); err != nil {
		return nil, err
	}
	var active []wallet.Session
	for _, id := range s.world.sessionsOf(id.Account) {
		if session := s.world.sessions[id]; session.Active(now) {
			active = append(active, session)
		}
	}
	return active, nil
}

func (m *memory) sessionsOf(account ident.InternalAccount) []ident.Session {
	return slices.DeleteFunc(sortedKeys(m.sessions), func(id ident.Session) bool { return m.sessions[id].Account != account })
}

func (u *tx) LockWalletSessions(_ context.Context, p ident.Platform, ids []ident.Session) (map[ident.Session]wallet.Session, error) {
	u.writes(p)
	found := map[ident.Session]wallet.Session{}
	for _, id := range ids {
		found[id] = u.sessions[id]
	}
	return found, nil
}

func (u *tx) SaveWalletAuthorizations(_ context.Context, authorizations []wallet.Authorization) error {
	for _, a := range authorizations {
		u.writes(a.Platform)
		session := u.sessions[a.Session]
		if _, exists := u.authorizations[a.Transaction]; exists {
			u.world.fail("%s is authorised twice", a.Transaction)
		}
		if !session.Active(u.now) || session.Account != a.Account || sign(session, u.transactions[a.Transaction].Payload) != a.Signature {
			u.world.fail("%s is authorised with %q, and the session is %+v", a.Transaction, a.Signature, session)
		}
		put(u.memory, u.authorizations, a.Transaction, a)
	}
	return nil
}

// walletQuote sends from a wallet that holds something. If there is none, it deposits into one.
func (w *world) walletQuote(i *intent, amount int64, in ident.InternalAccount, out ident.ExternalAccount) {
	wallets := slices.DeleteFunc(w.internalOf(i.platform),
		func(id ident.InternalAccount) bool { return w.internal[id].Type != account.EmbeddedWallet })
	funded := slices.DeleteFunc(slices.Clone(wallets),
		func(id ident.InternalAccount) bool { return w.balances[w.internal[id].LedgerAccount()] == 0 })
	if len(funded) == 0 {
		w.fund(i, amount, pick(w, wallets), out)
		return
	}
	w.quote(i, quote.Source{Internal: pick(w, funded)}, w.destination(in, out), inUnits(amount, money.USDB))
}

// openSession opens a session of a wallet.
func (w *world) openSession(account ident.InternalAccount) wallet.Session {
	s := wallet.Session{ID: ident.NewSession(w.newID, w.now), Account: account, CreatedAt: w.now.Add(-wallet.SessionLifetime),
		ExpiresAt: w.now.Add(wallet.SessionLifetime)}
	w.sessions[s.ID] = s
	return s
}

// executeSigned executes a quote of a wallet: with the signature of a session that is open at first, of
// another wallet, or without one.
func (w *world) executeSigned(i *intent, q quote.Quote) {
	t := w.transactions[q.Transaction]
	signature := sign(w.openSession(t.Source.InternalAccount), t.Payload)
	switch w.random.IntN(12) {
	case 0:
		signature = ""
	case 1:
		signature = sign(w.openSession(pick(w, w.internalOf(i.platform))), t.Payload)
	case 2:
		signature += " "
	}
	i.do = func(ctx context.Context, p *process, r *ports.IdempotentRequest) (ident.Transaction, error) {
		executed, err := p.service.ExecuteSignedQuote(ctx, i.platform, q.ID, payments.Signature{Text: signature, Environment: platform.Sandbox},
			"", r)
		return executed.Quote.Transaction, err
	}
}

// endSession ends a session.
func (w *world) endSession() {
	if len(w.sessions) == 0 {
		return
	}
	s := w.sessions[pick(w, sortedKeys(w.sessions))]
	s.RevokedAt = w.now
	w.sessions[s.ID] = s
	w.record("session %s ends", s.ID)
}

// checkAuthorized checks that a wallet pays with the signature of its owner only.
func (w *world) checkAuthorized(t transaction.Transaction) {
	_, authorized := w.authorizations[t.ID]
	if executed := t.Flow().Funding == transaction.Wallet && len(w.kinds[t.ID]) > 0; executed != authorized {
		w.fail("%s is %s; authorised by the owner of a wallet: %t", t.ID, t.State, authorized)
	}
}
