package bankfile

import (
	"fmt"
	"slices"

	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
)

// Instructions implements ports.Rail: the account at the bank, with the reference.
func (a *Adapter) Instructions(_ ident.Platform, reference string, currency money.Currency, _ string) ([]account.Instruction, error) {
	if !slices.Contains(a.connection.Currencies, currency) {
		return nil, fault.New(fault.InvalidCurrency, "%s cannot be paid in at this bank; it takes %v.", currency, a.connection.Currencies)
	}
	return []account.Instruction{{
		Notes: fmt.Sprintf("Enter exactly %s as the payment memo, and send the exact amount before the quote expires.", reference),
		Info:  a.accountInfo(currency, a.settings.holder, reference),
	}}, nil
}

// Funding implements ports.Rail: the account at the bank, in the name of the owner.
func (a *Adapter) Funding(_ ident.Platform, owner, reference string, currency money.Currency) ([]account.Instruction, error) {
	if !slices.Contains(a.connection.Currencies, currency) {
		return nil, nil
	}
	return []account.Instruction{{
		Notes: fmt.Sprintf("Send any amount at any time, with exactly %s as the payment memo.", reference),
		Info:  a.accountInfo(currency, a.settings.holder+" FBO "+owner, reference),
	}}, nil
}

// accountInfo describes the account as the API describes accounts of its kind.
func (a *Adapter) accountInfo(currency money.Currency, holder, reference string) map[string]any {
	rails := make([]string, len(a.connection.Rails))
	for i, r := range a.connection.Rails {
		rails[i] = string(r)
	}
	info := map[string]any{"accountHolderName": holder, "bankName": a.settings.bankName, "reference": reference, "paymentRails": rails}
	switch {
	case a.settings.iban == "":
		info["accountType"], info["routingNumber"], info["accountNumber"] = string(account.USAccount), a.settings.routingNumber,
			a.settings.accountNumber
	case currency == "EUR":
		info["accountType"], info["iban"] = "EUR_ACCOUNT", a.settings.iban
	default:
		info["accountType"], info["iban"], info["country"] = string(account.SWIFTAccount), a.settings.iban, a.settings.iban[:2]
	}
	if a.settings.bankAddress != "" {
		info["bankAddress"] = a.settings.bankAddress
	}
	if a.settings.bic != "" && a.settings.iban != "" {
		info["swiftCode"] = a.settings.bic
	}
	return info
}
