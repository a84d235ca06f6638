package transaction_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/sca"
	"causeway/core/transaction"
	"causeway/core/wallet"
	"causeway/ledger"
)

// payer is a payer who authorises a transaction with a passkey.
type payer struct {
	account    sca.Account
	challenges map[sca.Purpose]sca.Challenge // the latest
	proven     []sca.Purpose
}

var passkeyChecks = sca.Checks{Passkey: func(key wallet.PasskeyKey, challenge []byte, a wallet.Assertion) (wallet.PasskeyKey, error) {
	if key.UserVerified = true; a.Signature != string(challenge) {
		return key, fault.New(fault.InvalidInput, "wrong")
	}
	return key, nil
}}

// ask asks for the next proof, until the quote expires.
func (p *payer) ask(tx transaction.Transaction, now time.Time, n byte) {
	purpose := tx.NextPurpose(p.proven)
	c := sca.Challenge{Purpose: purpose, Subject: tx.AuthorizationDigest(), Factor: sca.Passkey, Customer: tx.Customer, CreatedAt: now,
		ExpiresAt: tx.ExpiresAt}
	p.challenges[purpose] = sca.NewChallenge(c, [32]byte{n})
}

// answer gives a proof, as the use case does: what is refused changes nothing but what is counted.
func (p *payer) answer(tx transaction.Transaction, signed sca.Challenge, now time.Time) (transaction.Decision, error) {
	if err := tx.CheckAuthorizable(now); err != nil {
		return transaction.Decision{}, err
	}
	purpose := tx.NextPurpose(p.proven)
	d, err := tx.Authorize(append(p.proven[:len(p.proven):len(p.proven)], purpose), activeParties(), now)
	if err != nil {
		return d, err
	}
	attempt := sca.Attempt{Account: p.account, Purpose: purpose, Subject: tx.AuthorizationDigest(),
		Credentials: []sca.Credential{{Factor: sca.Passkey, Passkey: &wallet.PasskeyKey{}}},
		Proof:       sca.Proof{Factor: sca.Passkey, Assertion: wallet.Assertion{Signature: string(signed.PasskeyChallenge)}}}
	if c, asked := p.challenges[purpose]; asked {
		attempt.Challenge = &c
	}
	outcome := sca.Decide(attempt, passkeyChecks, now)
	if outcome.Account != nil {
		p.account = *outcome.Account
	}
	if outcome.Challenge != nil {
		p.challenges[purpose] = *outcome.Challenge
	}
	if outcome.Refused != nil {
		return d, outcome.Refused
	}
	p.proven = append(p.proven, purpose)
	return d, nil
}

// movesOn reports whether a posting takes the money of the payer to the payee.
func movesOn(kind ledger.Kind) bool {
	return kind == ledger.KindConverted || kind == ledger.KindTransferOut || kind == ledger.KindWalletDebit
}

func TestTransaction_MovesNothingWithoutProof(t *testing.T) {
	t.Parallel()
	// No sequence of calls moves the money of a payer who has to authorise its payment unless it has signed, for each purpose and while
	// the quote was valid, the amounts and the payee of exactly this transaction. Signatures of a payment with another amount or
	// payee, of another purpose, and those that were used, count for nothing.
	rapid.Check(t, func(t *rapid.T) {
		now, tx := noon, anyTransaction(t).Protected()
		p := payer{account: sca.Account{Customer: tx.Customer}, challenges: map[sca.Purpose]sca.Challenge{}}
		signed := map[sca.Purpose]bool{} // by the payer, for this transaction as it was quoted
		quoted := tx
		for step := range rapid.IntRange(1, 16).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(-1, 60).Draw(t, "seconds")) * time.Second)
			var d transaction.Decision
			var err error
			switch rapid.SampledFrom([]int{0, 1, 2, 3, 4, 5, 6, 7}).Draw(t, "call") { // the calls that begin a payment are often drawn
			case 0:
				p.ask(tx, now, byte(step))
				continue
			case 1, 2:
				purpose := tx.NextPurpose(p.proven)
				if d, err = p.answer(tx, p.challenges[purpose], now); err == nil {
					signed[purpose] = now.Before(quoted.ExpiresAt)
				}
			case 3:
				other := tx
				switch rapid.IntRange(0, 3).Draw(t, "other") {
				case 0:
					other.Pricing.Sent.Minor++
				case 1:
					other.Pricing.Received.Minor++
				case 2:
					other.Destination.ExternalAccount = ident.ExternalAccount{}
					other.Destination.UMA = "$mallory@other.example"
				case 3:
					other.ID = ident.Transaction{}
				}
				ask := payer{account: p.account, challenges: map[sca.Purpose]sca.Challenge{}, proven: p.proven}
				ask.ask(other, now, byte(step))
				purpose := tx.NextPurpose(p.proven)
				if rapid.Bool().Draw(t, "stored") { // as if the challenge were that of this transaction
					p.challenges[purpose] = ask.challenges[other.NextPurpose(p.proven)]
				}
				if d, err = p.answer(tx, ask.challenges[other.NextPurpose(p.proven)], now); err == nil {
					t.Fatalf("a proof of %s to %+v authorises %s to %+v", other.Pricing.Sent, other.Destination, tx.Pricing.Sent, tx.Destination)
				}
			case 4:
				d, err = tx.Execute(activeParties(), now)
			case 5:
				d, err = tx.Receive(receiptFor(tx, tx.Pricing.Sent.Minor, string(rune('a'+step)), now), activeParties(), now)
			case 6:
				if mayBeTransfer(tx) {
					d, err = tx.StartTransfer(now)
				} else {
					d, err = tx.ExecuteSigned(activeParties(), now)
				}
			default:
				d, err = applyRandomEvent(t, tx, now, step)
			}
			if err != nil {
				continue
			}
			if tx = d.Transaction; tx.AuthorizationDigest() != quoted.AuthorizationDigest() {
				t.Fatal("what was quoted has changed")
			}
			starts := d.Next == transaction.StepCollect || d.Next == transaction.StepDebitWallet || d.Next == transaction.StepDeliver
			for _, posting := range d.Postings {
				starts = starts || movesOn(posting.Kind)
			}
			for _, purpose := range quoted.Purposes() {
				if starts && !signed[purpose] {
					t.Fatalf("%s begins (%s, %v) without a proof for %s", tx.State, d.Next, d.Postings, purpose)
				}
			}
			if !signed[quoted.Purposes()[0]] && tx.HowToPay() != nil {
				t.Fatal("it is shown how to pay before the payer has authorised it")
			}
		}
	})
}

func TestTransaction_HowToPayIsHidden(t *testing.T) {
	t.Parallel()
	// How to pay is not shown before the payer has authorised the payment, and is when it has, or is exempt.
	tx := onRamp()
	tx.Instructions = []account.Instruction{{Notes: "pay"}}
	protected := tx.Protected()
	if protected.HowToPay() != nil || protected.State.Status != transaction.PendingAuthorization {
		t.Errorf("%s shows %v", protected.State, protected.HowToPay())
	}
	if exempted := protected.Exempted(); exempted.HowToPay() == nil || exempted.State != transaction.Initial {
		t.Errorf("exempt: %s shows %v", exempted.State, exempted.HowToPay())
	}
	done, err := protected.Authorize(protected.Purposes(), activeParties(), noon)
	if err != nil || done.Transaction.HowToPay() == nil || done.Transaction.State != transaction.Initial {
		t.Errorf("authorised: %s shows %v, %v", done.Transaction.State, done.Transaction.HowToPay(), err)
	}
}
