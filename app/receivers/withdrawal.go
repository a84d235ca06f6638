package receivers

import (
	"context"
	"strings"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
)

// Withdrawal is crypto that is to leave an internal account, over a chain, to an
// address.
type Withdrawal struct {
	From     ident.InternalAccount
	Currency money.Currency
	Chain    corridor.Rail
	Amount   int64
	Address  string
}

// WithdrawalCost is what a withdrawal costs and leaves. Network is in the smallest unit of Asset;
// the others are minor units of the currency, and Total and Net are together the amount.
type WithdrawalCost struct {
	NetworkFee      int64
	NetworkFeeAsset string
	ApplicationFee  int64
	Total           int64
	Net             int64
}

// chainAccountTypes are the types of account that live on a chain.
var chainAccountTypes = map[corridor.Rail]account.Type{
	corridor.Layer2: account.Layer2Wallet, corridor.Altchain: account.AltchainWallet, corridor.Base: account.BaseWallet,
	corridor.Polygon: account.PolygonWallet, corridor.Ethereum: account.EthereumWallet, corridor.Tron: account.TronWallet,
}

// EstimateWithdrawalFee estimates what a withdrawal costs. Faults: INVALID_INPUT with every bad
// field, INTERNAL_ACCOUNT_NOT_FOUND, AMOUNT_OUT_OF_RANGE when nothing would be left.
func (e *Service) EstimateWithdrawalFee(ctx context.Context, who platform.Principal, w Withdrawal) (WithdrawalCost, error) {
	if err := who.CheckPermission(platform.View); err != nil {
		return WithdrawalCost{}, err
	}
	if bad := w.validate(who.Platform); len(bad) > 0 {
		return WithdrawalCost{}, fault.Invalid(bad...)
	}
	from, err := e.Store.InternalAccount(ctx, who.Platform, w.From)
	if err != nil {
		return WithdrawalCost{}, err
	}
	if from.Currency != w.Currency {
		return WithdrawalCost{}, fault.Invalid(fault.Field{Field: "currency", Message: "the account holds " + string(from.Currency) + "; send that currency, or a quote converts"})
	}
	cost, _ := corridor.WithdrawalFeesFor(w.Currency, w.Chain)
	if cost.ServiceFee >= w.Amount {
		return WithdrawalCost{}, fault.New(fault.AmountOutOfRange, "Nothing would be left: the withdrawal costs %d in the smallest unit of %s.", cost.ServiceFee, w.Currency)
	}
	return WithdrawalCost{NetworkFee: cost.NetworkFee, NetworkFeeAsset: cost.Asset, ApplicationFee: cost.ServiceFee, Total: cost.ServiceFee, Net: w.Amount - cost.ServiceFee}, nil
}

// validate lists every bad field.
func (w Withdrawal) validate(p ident.Platform) []fault.Field {
	var bad []fault.Field
	if w.Amount < 1 || w.Amount > money.MaxMinor {
		bad = append(bad, fault.Field{Field: "amount", Message: "must be a whole number of the smallest currency unit, from 1 to 9000000000000000",
			Constraint: map[string]any{"minimum": 1, "maximum": money.MaxMinor}})
	}
	if !w.Currency.Known() || !w.Currency.IsCrypto() {
		return append(bad, fault.Field{Field: "currency", Message: "must be a crypto currency, such as USDC or BTC"})
	}
	if _, err := corridor.ChainFor(w.Currency, string(w.Chain), "cryptoNetwork"); err != nil || w.Chain == "" {
		return append(bad, fault.Field{Field: "cryptoNetwork", Message: "is not a network that " + string(w.Currency) + " moves on here"})
	}
	return append(bad, w.validateAddress(p)...)
}

// validateAddress asks the catalogue of accounts about the address, as registering it would.
func (w Withdrawal) validateAddress(p ident.Platform) []fault.Field {
	info := map[string]any{"accountType": string(chainAccountTypes[w.Chain]), "address": w.Address}
	if w.Chain == corridor.Lightning {
		info = map[string]any{"accountType": string(account.LightningType), lightningField(w.Address): w.Address}
	}
	asked := account.CreateRequest{Platform: p, Currency: string(w.Currency), Info: info}
	ident.SetUUID(&asked.ID, w.From.UUID()) // it is not kept, so any will do
	_, err := account.Validate(asked)
	var bad []fault.Field
	if f, ok := fault.As(err); ok {
		for _, field := range f.Fields {
			bad = append(bad, fault.Field{Field: "destinationAddress", Message: field.Message, Constraint: field.Constraint})
		}
	}
	return bad
}

// lightningField is which of the ways to name a payee on Lightning a text is.
func lightningField(address string) string {
	lower := strings.ToLower(address)
	switch {
	case strings.HasPrefix(lower, "lno1"):
		return "bolt12"
	case strings.HasPrefix(lower, "ln") && !strings.Contains(lower, "@"):
		return "invoice"
	default:
		return "lightningAddress"
	}
}
