package payments

import (
	"context"
	"slices"
	"time"

	"causeway/app/internal/strongauth"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/sca"
	"causeway/core/transaction"
	"causeway/ports"
)

// payers are the customers of a unit of work who have to authorise their payments, and what it has decided about that. They are
// locked, so that what is counted of each is decided one after the other.
type payers struct {
	service  *Service
	tx       Tx
	now      time.Time
	platform platform.Platform
	locked   map[ident.Customer]payer
	// authorized are new.
	authorized []transaction.PaymentAuthorization
}

type payer struct {
	customer customer.Customer
	account  sca.Account
}

// lockPayers locks customers, in one order, before anything else of the unit of work.
func (s *Service) lockPayers(ctx context.Context, tx Tx, now time.Time, p ident.Platform, ids []ident.Customer) (*payers, error) {
	found := &payers{service: s, tx: tx, now: now, locked: map[ident.Customer]payer{}}
	if len(ids) == 0 {
		return found, nil
	}
	var err error
	if found.platform, err = tx.LockPlatformShared(ctx, p); err != nil {
		return nil, err
	}
	slices.SortFunc(ids, ident.Customer.Compare)
	for _, id := range slices.Compact(ids) {
		var of payer
		if of.customer, err = tx.LockCustomer(ctx, p, id); err != nil {
			return nil, err
		}
		if of.account, err = tx.LockSCAAccount(ctx, p, id); err != nil {
			return nil, err
		}
		found.locked[id] = of
	}
	return found, nil
}

// lockQuotingPayers locks the customers who have to authorise new quotes before they are shown how to pay them.
func (s *Service) lockQuotingPayers(ctx context.Context, tx Tx, commands []*quoteCommand, parties []quote.Parties,
	now time.Time) (*payers, error) {
	var ids []ident.Customer
	for i, c := range commands {
		if p := parties[i]; c.request.PayerAuthorizes(p) && (c.request.Source.JustInTime() || p.FromWallet()) {
			ids = append(ids, p.Customer.ID)
		}
	}
	return s.lockPayers(ctx, tx, now, commands[0].request.Platform, ids)
}

// begin decides how a new quote whose payer has to authorise it before it is shown how to pay goes on. Others do not change.
func (p *payers) begin(ctx context.Context, t transaction.Transaction, parties quote.Parties, wanted sca.Factor) (
	transaction.Transaction, *sca.Asked, error) {
	if t.State.Status != transaction.PendingAuthorization {
		return t, nil, nil
	}
	started, exempted, err := p.start(ctx, t, parties)
	if err != nil || exempted {
		return started, nil, err
	}
	challenge, err := p.ask(ctx, t, t.NextPurpose(nil), parties, wanted)
	return t, challenge, err
}

// check returns ACCOUNT_LOCKED, and SCA_SESSION_REQUIRED unless the payer has logged in with strong customer authentication.
func (p *payers) check(ctx context.Context, t transaction.Transaction) error {
	if err := p.locked[t.Customer].account.CheckLock(p.now); err != nil {
		return err
	}
	_, err := p.tx.SCASession(ctx, t.Platform, t.Customer, p.now)
	return err
}

// exempt returns the authorization of a payment by the exemption that applies, and false if none does.
func (p *payers) exempt(ctx context.Context, t transaction.Transaction, parties quote.Parties) (transaction.PaymentAuthorization,
	bool, error) {
	var euros money.Amount
	var used sca.LowValueUse
	trusted := parties.ToExternal != nil && !parties.ToExternal.TrustedAt.IsZero()
	exemption := parties.Exemptions.For(trusted, euros, used)
	if exemption == "" && parties.Exemptions.LowValue {
		var err error
		if used, err = p.tx.LowValueUse(ctx, t.Platform, t.Customer); err != nil {
			return transaction.PaymentAuthorization{}, false, err
		}
		for _, a := range p.authorized { // in this unit of work
			if a.Customer == t.Customer && a.Exemption == sca.LowValue {
				used.Payments, used.Total = used.Payments+1, used.Total+a.EuroCents
			}
		}
		euros, err = p.service.Prices.Convert(ctx, t.Pricing.Sent, money.EUR)
		if _, noRate := fault.As(err); err != nil && !noRate {
			return transaction.PaymentAuthorization{}, false, err
		}
		exemption = parties.Exemptions.For(trusted, euros, used)
	}
	return t.ExemptedBy(exemption, euros, used.At(p.now)), exemption != "", nil
}

// subject is what a locked payer is asked to prove.
func (p *payers) subject(t transaction.Transaction, purpose sca.Purpose, parties quote.Parties) strongauth.Subject {
	return strongauth.Subject{Platform: p.platform, Customer: p.locked[t.Customer].customer, Purpose: purpose,
		Digest: t.AuthorizationDigest(), Words: t.AuthorizationWords(purpose, parties.ToExternal, p.platform.Name)}
}

// ask asks a locked payer for the next proof, which counts until the quote expires. What was asked before is asked again, unless it
// is to be proven with another factor.
func (p *payers) ask(ctx context.Context, t transaction.Transaction, purpose sca.Purpose, parties quote.Parties,
	wanted sca.Factor) (*sca.Asked, error) {
	subject := p.subject(t, purpose, parties)
	asked, open, err := p.service.Auth.Open(ctx, p.tx, subject, p.now)
	if err == nil && (!open || wanted != "" && wanted != asked.Factor) {
		asked, err = p.service.Auth.Ask(ctx, p.tx, subject, wanted, t.ExpiresAt, p.now)
	}
	return &asked, err
}

// start decides how a new or executed payment of a locked payer goes on: exempted or not. It returns the transaction that goes on, and
// false if the payer has to be asked.
func (p *payers) start(ctx context.Context, t transaction.Transaction, parties quote.Parties) (transaction.Transaction, bool, error) {
	exemption, applies, err := p.exemption(ctx, t, parties)
	if err != nil || !applies {
		return t, false, err
	}
	p.authorized = append(p.authorized, exemption)
	return t.Exempted(), true, nil
}

// exemption is exempt for a payer who may start payments. The caller adds what it returns to authorized once the payment goes on.
func (p *payers) exemption(ctx context.Context, t transaction.Transaction, parties quote.Parties) (transaction.PaymentAuthorization, bool,
	error) {
	if err := p.check(ctx, t); err != nil {
		return transaction.PaymentAuthorization{}, false, err
	}
	return p.exempt(ctx, t, parties)
}

// write stores the authorizations, before what they allow.
func (p *payers) write(ctx context.Context) error {
	if len(p.authorized) == 0 {
		return nil
	}
	return p.tx.SavePaymentAuthorizations(ctx, p.authorized)
}

// withChallenge returns a quote with what its payer is asked for, if that is still open.
func (s *Service) withChallenge(ctx context.Context, found quote.WithStatus, t transaction.Transaction) (quote.WithStatus, error) {
	if found.Status != quote.PendingAuthorization {
		return found, nil
	}
	on, err := s.Store.Platform(ctx, t.Platform)
	if err != nil {
		return found, err
	}
	authorized, err := s.Store.PaymentAuthorizations(ctx, ports.TransactionKey{Platform: t.Platform, ID: t.ID})
	if err != nil {
		return found, err
	}
	of, err := s.Store.Customer(ctx, t.Platform, t.Customer)
	if err != nil {
		return found, err
	}
	asked, open, err := s.Auth.Open(ctx, s.Store, strongauth.Subject{Platform: on, Customer: of, Purpose: t.NextPurpose(purposes(authorized)),
		Digest: t.AuthorizationDigest()}, s.Clock.Now())
	if open {
		found.Challenge = &asked
	}
	if _, unusable := fault.As(err); unusable { // the platform has taken its passkeys away since
		err = nil
	}
	return found, err
}

func purposes(authorized []transaction.PaymentAuthorization) []sca.Purpose {
	all := make([]sca.Purpose, len(authorized))
	for i, a := range authorized {
		all[i] = a.Purpose
	}
	return all
}
