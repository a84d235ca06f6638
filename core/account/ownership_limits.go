package account

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/party"
)

// OwnershipLimits are the highest amounts that are paid to a wallet before its owner has proven that it is theirs, by the region of the
// customer: a country, or AnyRegion. A region without one has no such rule; nil limits allow no amount.
//
// Regulation (EU) 2023/1113, article 14(5), has the limit of 1000 euros; recommendation 16 of the FATF is the rule behind it.
type OwnershipLimits map[string]money.Amount

const (
	// AnyRegion stands for every region that has no limit of its own, and for payments of platforms.
	AnyRegion = "*"
	// EEA stands for the countries of the European Economic Area.
	EEA = "EEA"
)

// ParseOwnershipLimits parses limits such as "EEA=1000 EUR", in whole units of the currency, or "none". A country overrides EEA.
func ParseOwnershipLimits(list []string) (OwnershipLimits, error) {
	limits, ofEEA := OwnershipLimits{}, false
	if len(list) == 1 && list[0] == "none" {
		return limits, nil
	}
	for _, text := range list {
		region, amount, err := parseOwnershipLimit(text)
		if err != nil {
			return nil, fmt.Errorf("%q is not a limit such as EEA=1000 EUR: %w", text, err)
		}
		if _, twice := limits[region]; twice || region == EEA && ofEEA {
			return nil, fmt.Errorf("%s has two limits", region)
		}
		ofEEA = ofEEA || region == EEA
		limits[region] = amount
	}
	if common, ok := limits[EEA]; ok {
		delete(limits, EEA)
		for _, country := range party.EEA() {
			if _, own := limits[country]; !own {
				limits[country] = common
			}
		}
	}
	return limits, nil
}

func parseOwnershipLimit(text string) (region string, limit money.Amount, err error) {
	region, amount, _ := strings.Cut(text, "=")
	whole, code, _ := strings.Cut(amount, " ")
	if region != AnyRegion && region != EEA && !party.KnownCountry(region) {
		return "", limit, errors.New("the region must be a country code, EEA or *")
	}
	if limit.Currency, err = money.ParsePayable(code); err != nil {
		return "", limit, errors.New("the currency must be a known code")
	}
	if limit.Minor, err = strconv.ParseInt(whole, 10, 64); err == nil && limit.Minor >= 0 {
		for range limit.Currency.Decimals() {
			if limit.Minor *= 10; limit.Minor > money.MaxMinor {
				break
			}
		}
	}
	if err != nil || limit.Minor < 0 || limit.Minor > money.MaxMinor {
		return "", limit, errors.New("the amount must be a whole number")
	}
	return region, limit, nil
}

// of returns the limit of a region.
func (l OwnershipLimits) of(region string) (money.Amount, bool) {
	limit, found := l[region]
	if !found {
		limit, found = l[AnyRegion]
	}
	return limit, found
}

// Apply reports whether payments of customers of a region to wallets are subject to the rule.
func (l OwnershipLimits) Apply(region string) bool {
	_, found := l.of(region)
	return found
}

// Worth returns what a payment to an account is worth in the currency of the limit; zero if there is none to compare with. convert rounds
// up; its errors are returned, except money.ErrOverflow.
func (l OwnershipLimits) Worth(to External, region string, paid money.Amount,
	convert func(money.Amount, money.Currency) (money.Amount, error)) (money.Amount, error) {
	limit, found := l.of(region)
	if !found || !to.Status.Unproven() {
		return money.Amount{}, nil
	}
	worth, err := convert(paid, limit.Currency)
	if errors.Is(err, money.ErrOverflow) {
		return money.Amount{Minor: money.MaxMinor, Currency: limit.Currency}, nil // more than every limit
	}
	return worth, err
}

// Check returns EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED if an account of a status is not paid what is worth an amount, as Worth has
// returned it when the payment was accepted.
func (l OwnershipLimits) Check(to Status, region string, worth money.Amount) error {
	limit, found := l.of(region)
	if !to.Unproven() || l != nil && (!found || worth.Currency == limit.Currency && worth.Minor <= limit.Minor) {
		return nil
	}
	return &fault.Error{Code: fault.ExternalAccountVerificationRequired, Reason: "Ownership not verified",
		Message: "The owner of the wallet has not proven that it is theirs, and this payment is worth more than " + limit.String() +
			". Prove it with POST …/external-accounts/{externalAccountId}/challenge, or register the wallet with the vaspName of its custodian.",
		Details: map[string]any{"currency": string(limit.Currency), "maxAmount": limit.Minor}}
}
