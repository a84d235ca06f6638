package account

import (
	"slices"

	"causeway/core/corridor"
	"causeway/core/fault"
)

// RailFor returns the best rail for a payment of minor units to the account. Faults:
// INVALID_CURRENCY if there is no corridor to it yet, AMOUNT_OUT_OF_RANGE if none of its
// rails allows the amount.
func (a External) RailFor(minor int64) (corridor.Rail, error) {
	rails, err := a.availableRails()
	if err != nil {
		return "", err
	}
	return corridor.Choose(rails, a.Currency, minor)
}

// ResolveRail returns the wanted rail or, if it is empty, the one of RailFor. It returns
// INVALID_INPUT if the wanted rail does not reach the account.
func (a External) ResolveRail(wanted corridor.Rail, minor int64) (corridor.Rail, error) {
	if wanted == "" {
		return a.RailFor(minor)
	}
	rails, err := a.availableRails()
	if err != nil {
		return "", err
	}
	if slices.Contains(rails, corridor.BankTransfer) {
		rails = slices.Concat(rails, corridor.BankSystems(a.Country()))
	}
	if !slices.Contains(rails, wanted) {
		return "", fault.Invalid(fault.Field{Field: "destination.paymentRail", Message: "is " + wanted.PublicName() +
			", which does not reach this account; omit it, or choose one of the enum",
			Constraint: map[string]any{"enum": corridor.PublicNames(rails)}})
	}
	return corridor.Choose([]corridor.Rail{wanted}, a.Currency, minor)
}

// availableRails returns the rails of the account that have a corridor.
func (a External) availableRails() ([]corridor.Rail, error) {
	rails := a.Rails
	if !a.IsCrypto() {
		open, err := corridor.RailsTo(a.Currency, a.Country())
		if err != nil {
			return nil, err
		}
		rails = slices.DeleteFunc(slices.Clone(rails), func(r corridor.Rail) bool { return !slices.Contains(open, r) })
	}
	if len(rails) == 0 {
		return nil, fault.New(fault.InvalidCurrency, "There is no corridor to accounts of the type %s yet.", a.Type)
	}
	return rails, nil
}

// pullRails holds the types of accounts that money can be collected from, with the rail.
var pullRails = map[Type]corridor.Rail{
	USAccount: corridor.ACH, // a debit entry, authorised by the owner
}

// PullRail returns the rail by which money can be collected from the account, or false if
// only its owner can send from it.
func (a External) PullRail() (corridor.Rail, bool) {
	rail, ok := pullRails[a.Type]
	return rail, ok && a.Status == Active && !a.Deleted()
}
