package transaction

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/sca"
	"causeway/ledger"
)

// Authorization is whether the payer of a transaction has to authorise it with strong customer authentication (Directive (EU)
// 2015/2366, art. 97), which is decided when the transaction is created.
type Authorization string

// The states of the authorization of a transaction.
const (
	// AuthorizationNotNeeded: no rule asks for it.
	AuthorizationNotNeeded Authorization = ""
	// AuthorizationRequired: the payer has not authorised the payment yet, so it moves no money.
	AuthorizationRequired Authorization = "REQUIRED"
	// Authorized: the payer has authorised it.
	Authorized Authorization = "AUTHORIZED"
	// AuthorizationExempt: a recorded exemption applies.
	AuthorizationExempt Authorization = "EXEMPT"
)

// Purposes returns what the payer of the transaction authorises, one after the other.
func (t Transaction) Purposes() []sca.Purpose {
	var purposes []sca.Purpose
	if t.Flow().Converts {
		purposes = append(purposes, sca.CurrencyConversion)
	}
	switch {
	case t.Destination.InternalAccount.IsZero() || t.paysPlatform():
		purposes = append(purposes, sca.Payout)
	case len(purposes) == 0:
		purposes = append(purposes, sca.Transfer)
	}
	return purposes
}

// paysPlatform reports whether the money goes to an account of the platform.
func (t Transaction) paysPlatform() bool {
	return !t.Destination.InternalAccount.IsZero() && t.DestinationAccount == ledger.PlatformAccount(t.Destination.InternalAccount)
}

// NextPurpose returns what is to be authorised next; empty if the payer has authorised everything.
func (t Transaction) NextPurpose(authorized []sca.Purpose) sca.Purpose {
	for _, p := range t.Purposes() {
		if !slices.Contains(authorized, p) {
			return p
		}
	}
	return ""
}

// AuthorizationDigest returns a hash of what the payer authorises: the amounts, the currencies and the payee, of this transaction
// (Delegated Regulation (EU) 2018/389, art. 5). A proof is valid for nothing else.
func (t Transaction) AuthorizationDigest() sca.Digest {
	var text strings.Builder
	for _, part := range []string{"causeway authorization 1", t.Platform.String(), t.ID.String(), t.Customer.String(),
		string(t.Pricing.Sent.Currency), strconv.FormatInt(t.Pricing.Sent.Minor, 10),
		string(t.Pricing.Received.Currency), strconv.FormatInt(t.Pricing.Received.Minor, 10),
		t.Source.InternalAccount.String(), t.Source.ExternalAccount.String(),
		t.Destination.InternalAccount.String(), t.Destination.ExternalAccount.String(), t.Destination.UMA} {
		fmt.Fprintf(&text, "%d:%s,", len(part), part)
	}
	return sha256.Sum256([]byte(text.String()))
}

// ErrPayerAuthorizes is the fault of a payment that its payer has to authorise, and that is started where it cannot do so.
var ErrPayerAuthorizes = &fault.Error{Code: fault.Conflict, Reason: "Authorization required",
	Message: "The customer has to authorise this " +
		"payment with strong customer authentication, so neither a transfer nor an agent can make it. Create a quote with POST /quotes, " +
		"and let " +
		"the customer authorise it."}

// AuthorizationWords say to the payer what it authorises for a purpose: the amounts, and who is paid. to is the external account that is
// paid, or nil, and platform the name of the platform.
func (t Transaction) AuthorizationWords(p sca.Purpose, to *account.External, platform string) string {
	if p == sca.CurrencyConversion {
		return fmt.Sprintf("to exchange %s for %s", t.Pricing.Sent, t.Pricing.Received)
	}
	payee := t.Destination.UMA
	switch {
	case to != nil:
		payee = to.PayeeName()
	case t.paysPlatform():
		payee = platform
	case payee == "":
		payee = "your account in " + string(t.Pricing.Received.Currency)
	}
	return fmt.Sprintf("to pay %s to %s", t.Pricing.Received, payee)
}

// fundedByAccount reports whether an account funds the transaction when it is executed, without a signature. Its payer is asked to
// authorise it then; others are asked at once, and are shown how to pay once they have.
func (t Transaction) fundedByAccount() bool {
	funding := t.Flow().Funding
	return funding == Balance || funding == Pull
}

// Protected returns the transaction of a new quote whose payer has to authorise it. One that is funded in another way than by an
// account waits for that from the beginning.
func (t Transaction) Protected() Transaction {
	t.Authorization = AuthorizationRequired
	if !t.fundedByAccount() {
		t.State.Status = PendingAuthorization
	}
	return t
}

// Exempted returns the transaction of a payer who has to authorise it, after an exemption was recorded.
func (t Transaction) Exempted() Transaction {
	t.Authorization = AuthorizationExempt
	if t.isChallenged() {
		t.State = Initial
	}
	return t
}

// HowToPay returns how to fund the transaction, which is not shown before the payer has authorised it.
func (t Transaction) HowToPay() []account.Instruction {
	if t.Authorization == AuthorizationRequired {
		return nil
	}
	return t.Instructions
}

// isChallenged reports whether the payer has been asked to authorise the payment, and has not.
func (t Transaction) isChallenged() bool { return t.State == State{Status: PendingAuthorization} }

// Expires reports whether the transaction ends when its quote expires.
func (t Transaction) Expires() bool { return t.State == Initial || t.isChallenged() }

// PaymentAuthorization is why the payment of a payer who has to authorise it goes on: a proof for one purpose, or an exemption.
type PaymentAuthorization struct {
	Platform    ident.Platform
	Transaction ident.Transaction
	Customer    ident.Customer
	// Purpose, Challenge and Factor are those of a proof.
	Purpose   sca.Purpose
	Challenge ident.SCAChallenge
	Factor    sca.Factor
	// Exemption is set if there was no proof, and EuroCents to the amount if it is sca.LowValue.
	Exemption sca.Exemption
	EuroCents int64
	// Digest is AuthorizationDigest.
	Digest sca.Digest
	At     time.Time
}

// ProvenBy returns the authorization of the transaction by a challenge that its payer has answered.
func (t Transaction) ProvenBy(c sca.Challenge, now time.Time) PaymentAuthorization {
	return PaymentAuthorization{Platform: t.Platform, Transaction: t.ID, Customer: t.Customer, Purpose: c.Purpose, Challenge: c.ID,
		Factor: c.Factor, Digest: t.AuthorizationDigest(), At: now}
}

// ExemptedBy returns the authorization of the transaction by an exemption.
func (t Transaction) ExemptedBy(e sca.Exemption, euros money.Amount, now time.Time) PaymentAuthorization {
	a := PaymentAuthorization{Platform: t.Platform, Transaction: t.ID, Customer: t.Customer, Exemption: e, Digest: t.AuthorizationDigest(),
		At: now}
	if e == sca.LowValue {
		a.EuroCents = euros.Minor
	}
	return a
}

// checkAuthorized returns a fault if the event moves money that the payer has not authorised. Every decision passes here, so that
// none goes around it.
func (t Transaction) checkAuthorized(event Event) error {
	if moves := event == Fund || event == Execute || event == Collect; moves && t.Authorization == AuthorizationRequired {
		return errNotRunnable("Not authorized", "The payer of "+t.ID.String()+" has not authorised it. Do so with POST "+
			"/quotes/{quoteId}/authorize before the quote expires.")
	}
	return nil
}

// challenge returns the decision that asks the payer to authorise the payment. Asked again, it changes nothing.
func (t Transaction) challenge(now time.Time) (Decision, error) {
	d := Decision{Transaction: t, Challenges: true}
	if t.isChallenged() {
		return d, nil
	}
	next, err := t.transition(Challenge, "", now)
	d.Transaction, d.Events = next, next.eventNames(t.State)
	return d, err
}

// Authorize decides after another proof of the payer; authorized is everything that it has authorised. After the last one the
// payment goes on: one that waits to be funded can be
// funded, and one that an account funds is executed at once, after the caller has checked its balance. Faults: CONFLICT if no
// authorization is pending, QUOTE_EXPIRED; those of CheckParties.
func (t Transaction) Authorize(authorized []sca.Purpose, p Parties, now time.Time) (Decision, error) {
	if err := t.CheckAuthorizable(now); err != nil {
		return Decision{}, err
	}
	if err := t.CheckParties(p); err != nil {
		return Decision{}, err
	}
	if t.NextPurpose(authorized) != "" {
		return t.challenge(now)
	}
	proven := t
	proven.Authorization = Authorized
	if proven.fundedByAccount() {
		return proven.execute(now)
	}
	next, err := proven.transition(Authorize, "", now)
	return Decision{Transaction: next, Events: next.eventNames(t.State)}, err
}

// CheckAuthorizable returns a fault unless the payer has been asked to authorise the payment, and still can: CONFLICT, QUOTE_EXPIRED.
func (t Transaction) CheckAuthorizable(now time.Time) error {
	switch {
	case t.Refund != nil && t.State.Reason == SCANotCompleted:
		return fault.New(fault.Conflict, "The quote was paid before its payer had authorised it, so the money goes back. Create a new one.")
	case !t.isChallenged() && t.State.Reason != SCANotCompleted:
		return fault.New(fault.Conflict, "No authorization of this quote is pending; its transaction is %s.", t.State)
	case !t.isChallenged(), !now.Before(t.ExpiresAt):
		return fault.New(fault.QuoteExpired, "The quote expired at %s. Create a new one.", t.ExpiresAt.Format(time.RFC3339))
	}
	return nil
}
