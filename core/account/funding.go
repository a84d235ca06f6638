package account

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"causeway/core/ident"
	"causeway/core/money"
)

// FundingReference returns the code of an internal account in the memo of a payment to
// it: FUND- and 12 digits and capital letters.
func FundingReference(id ident.InternalAccount) string { return "FUND-" + ident.ShortCode(id.UUID()) }

// IsFundingReference reports whether a payer meant an internal account and not a quote.
func IsFundingReference(reference string) bool { return strings.HasPrefix(reference, "FUND-") }

// InstructionsFunc asks a rail for the ways to pay into an account with this reference, whose
// owner has this name.
type InstructionsFunc func(owner, reference string, currency money.Currency) ([]Instruction, error)

// WithInstructions returns the account with the ways to pay in. There are none into an embedded
// wallet: what it holds is under its owner's keys.
func (a Internal) WithInstructions(owner string, funding InstructionsFunc) (Internal, error) {
	a.Instructions = []Instruction{}
	if a.Type == EmbeddedWallet {
		return a, nil
	}
	ways, err := funding(owner, a.Reference, a.Currency)
	if err != nil {
		return a, fmt.Errorf("ways to pay into %s: %w", a.ID, err)
	}
	for _, way := range ways {
		way.PlatformAccount = a.Customer.IsZero()
		a.Instructions = append(a.Instructions, way)
	}
	return a, nil
}

// Opener is what is needed to open the internal accounts of one owner.
type Opener struct {
	Platform ident.Platform
	// Customer owns the accounts; zero for the platform itself.
	Customer ident.Customer
	// Owner is the name that bank accounts are held for.
	Owner string
	// FundingInstructions is nil where no rail is connected: the accounts get their instructions
	// once one is.
	FundingInstructions InstructionsFunc
	NewID               ident.Source
	Now                 time.Time
}

// Open opens one account for each currency.
func (o Opener) Open(currencies []money.Currency) ([]Internal, error) {
	opened, _, err := o.OpenMissing(currencies, nil)
	return opened, err
}

// OpenMissing finds what an owner who has these accounts lacks: one for each further
// currency, opened, and the ways to pay into those whose rail was not asked before.
func (o Opener) OpenMissing(currencies []money.Currency, has []Internal) (opened, instructed []Internal, err error) {
	for _, currency := range currencies {
		i := slices.IndexFunc(has, func(a Internal) bool { return a.Currency == currency })
		if i >= 0 && (has[i].Instructions != nil || o.FundingInstructions == nil) {
			continue
		}
		var a Internal
		if i >= 0 {
			a = has[i]
		} else if a, err = NewInternal(ident.NewInternalAccount(o.NewID, o.Now), o.Platform, o.Customer, currency, o.Now); err != nil {
			return nil, nil, err
		}
		if o.FundingInstructions != nil {
			if a, err = a.WithInstructions(o.Owner, o.FundingInstructions); err != nil {
				return nil, nil, err
			}
		}
		if i >= 0 {
			a.UpdatedAt = o.Now
			instructed = append(instructed, a)
		} else {
			opened = append(opened, a)
		}
	}
	return opened, instructed, nil
}
