package account

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"causeway/core/ident"
	"causeway/core/money"
)

// FundingReference returns the code of an internal account in the memo of payments to it:
// FUND- and 12 digits and capital letters.
func FundingReference(id ident.InternalAccount) string { return "FUND-" + ident.ShortCode(id.UUID()) }

// IsFundingReference reports whether a reference is one of an internal account, not of a
// quote.
func IsFundingReference(reference string) bool { return strings.HasPrefix(reference, "FUND-") }

// InstructionsFunc returns a rail's instructions for payments into an account, by the name of
// its owner and its reference.
type InstructionsFunc func(owner, reference string, currency money.Currency) ([]Instruction, error)

// WithInstructions returns the account with its funding instructions. An embedded wallet has
// none. Those of an account that cannot be paid into yet are nil, and added when it can.
func (a Internal) WithInstructions(owner string, funding InstructionsFunc) (Internal, error) {
	if a.Type == EmbeddedWallet {
		a.Instructions = []Instruction{}
		return a, nil
	}
	a.Instructions = nil
	instructions, err := funding(owner, a.Reference, a.Currency)
	if err != nil {
		return a, fmt.Errorf("funding instructions of %s: %w", a.ID, err)
	}
	for _, instruction := range instructions {
		instruction.PlatformAccount = a.Customer.IsZero()
		a.Instructions = append(a.Instructions, instruction)
	}
	return a, nil
}

// Opener opens the internal accounts of one owner.
type Opener struct {
	Platform ident.Platform
	// Customer owns the accounts; zero if the platform does.
	Customer ident.Customer
	// Owner is the name of the owner, for whom bank accounts are held.
	Owner string
	// FundingInstructions is nil if no rail is connected; the accounts get their
	// instructions when one is.
	FundingInstructions InstructionsFunc
	NewID               ident.Source
	Now                 time.Time
}

// Open returns a new account for each currency.
func (o Opener) Open(currencies []money.Currency) ([]Internal, error) {
	opened, _, err := o.OpenMissing(currencies, nil)
	return opened, err
}

// OpenMissing returns what is missing for an owner with existing accounts: new accounts for
// the other currencies, and the existing accounts that get their funding instructions.
func (o Opener) OpenMissing(currencies []money.Currency, existing []Internal) (opened, instructed []Internal, err error) {
	for _, currency := range currencies {
		i := slices.IndexFunc(existing, func(a Internal) bool { return a.Currency == currency && a.Type == internalType(o.Customer, currency) })
		if i >= 0 && (existing[i].Instructions != nil || o.FundingInstructions == nil) {
			continue
		}
		var a Internal
		if i >= 0 {
			a = existing[i]
		} else if a, err = NewInternal(ident.NewInternalAccount(o.NewID, o.Now), o.Platform, o.Customer, currency, o.Now); err != nil {
			return nil, nil, err
		}
		if o.FundingInstructions != nil {
			if a, err = a.WithInstructions(o.Owner, o.FundingInstructions); err != nil {
				return nil, nil, err
			}
		}
		switch {
		case i < 0:
			opened = append(opened, a)
		case a.Instructions != nil:
			a.UpdatedAt = o.Now
			instructed = append(instructed, a)
		}
	}
	return opened, instructed, nil
}

// Rename returns those of the existing accounts whose funding instructions name the owner, with
// instructions that have the present name. Their references stay.
func (o Opener) Rename(existing []Internal) (renamed []Internal, err error) {
	for _, a := range existing {
		if len(a.Instructions) == 0 || o.FundingInstructions == nil {
			continue
		}
		if a, err = a.WithInstructions(o.Owner, o.FundingInstructions); err != nil {
			return nil, err
		}
		a.UpdatedAt = o.Now
		renamed = append(renamed, a)
	}
	return renamed, nil
}

// Instruction is one way to pay: the account or wallet to pay to, as the rail names it.
type Instruction struct {
	Notes           string
	PlatformAccount bool
	// Info is the type-specific part: accountType, accountNumber, reference …
	Info map[string]any
}

// PayInvoice is the instruction to pay an invoice of the Lightning network.
func PayInvoice(request string) Instruction {
	return Instruction{Notes: "Pay this invoice before it expires. It is for exactly the quoted amount, and can be paid once.",
		Info: map[string]any{"accountType": string(LightningType), "invoice": request}}
}
