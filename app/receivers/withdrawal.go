package receivers

import (
	"context"
	"slices"
	"strings"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
)

// Withdrawal is a planned transfer of crypto from an internal account to an address on a chain.
type Withdrawal struct {
	From     ident.InternalAccount
	Currency money.Currency
	Chain    corridor.Rail
	Amount   int64
	Address  string
}

// WithdrawalCost is what a withdrawal costs. NetworkFee is in the smallest unit of
// NetworkFeeAsset, the others in minor units of the currency. Total and Net add up to the amount.
type WithdrawalCost struct {
	NetworkFee      int64
	NetworkFeeAsset string
	ApplicationFee  int64
	Total           int64
	Net             int64
}

// chainAccountTypes are the types of accounts on chains that have addresses.
var chainAccountTypes = map[corridor.Rail]account.Type{
	corridor.Layer2: account.Layer2Wallet, corridor.Altchain: account.AltchainWallet, corridor.Base: account.BaseWallet,
	corridor.Polygon: account.PolygonWallet, corridor.Ethereum: account.EthereumWallet, corridor.Tron: account.TronWallet,
	corridor.Plasma:  account.PlasmaWallet,
	corridor.Bitcoin: account.BitcoinAddress,
}

// EstimateWithdrawalFee estimates what a withdrawal costs. Faults: INVALID_INPUT with every
// invalid field, INTERNAL_ACCOUNT_NOT_FOUND, AMOUNT_OUT_OF_RANGE if the fee exceeds the amount.
func (s *Service) EstimateWithdrawalFee(ctx context.Context, p ident.Platform, w Withdrawal) (WithdrawalCost, error) {
	if bad := w.validate(p); len(bad) > 0 {
		return WithdrawalCost{}, fault.Invalid(bad...)
	}
	from, err := s.Store.InternalAccount(ctx, p, w.From)
	if err != nil {
		return WithdrawalCost{}, err
	}
	if from.Currency != w.Currency {
		return WithdrawalCost{}, fault.Invalid(fault.Field{Field: "currency", Message: "the account holds " + string(from.Currency) +
			"; withdraw that currency, or create a quote to convert it"})
	}
	cost, _ := corridor.WithdrawalFeesFor(w.Currency, w.Chain)
	if cost.ServiceFee >= w.Amount {
		return WithdrawalCost{}, fault.New(fault.AmountOutOfRange, "The fee exceeds the amount: the withdrawal costs %d in the smallest unit "+
			"of %s.", cost.ServiceFee, w.Currency)
	}
	return WithdrawalCost{NetworkFee: cost.NetworkFee, NetworkFeeAsset: cost.Asset, ApplicationFee: cost.ServiceFee, Total: cost.ServiceFee,
		Net: w.Amount - cost.ServiceFee}, nil
}

// validate returns every invalid field.
func (w Withdrawal) validate(p ident.Platform) []fault.Field {
	var bad []fault.Field
	if w.Amount < 1 || w.Amount > money.MaxMinor {
		bad = append(bad, fault.Field{Field: "amount",
			Message:    "must be a whole number of the smallest currency unit, from 1 to 9000000000000000",
			Constraint: map[string]any{"minimum": 1, "maximum": money.MaxMinor}})
	}
	if !w.Currency.Payable() || !w.Currency.IsCrypto() {
		return append(bad, fault.Field{Field: "currency", Message: "must be a crypto currency, such as USDC or BTC"})
	}
	if chains := corridor.Chains(w.Currency); !slices.Contains(chains, w.Chain) {
		return append(bad, fault.Field{Field: "cryptoNetwork", Message: "is not a network that supports " + string(w.Currency) + "; use " +
			strings.Join(corridor.PublicNames(chains), ", "),
			Constraint: map[string]any{"enum": corridor.PublicNames(chains)}})
	}
	return append(bad, w.validateAddress(p)...)
}

// validateAddress checks the address as the registration of an external account does.
func (w Withdrawal) validateAddress(p ident.Platform) []fault.Field {
	info := map[string]any{"accountType": string(chainAccountTypes[w.Chain]), "address": w.Address}
	if w.Chain == corridor.Lightning {
		info = map[string]any{"accountType": string(account.LightningType), lightningField(w.Address): w.Address}
	}
	request := account.CreateRequest{Platform: p, Currency: string(w.Currency), Info: info}
	request.ID.SetUUID(w.From.UUID()) // not stored, so any id will do
	_, err := account.Validate(request)
	var bad []fault.Field
	if f, ok := fault.As(err); ok {
		for _, field := range f.Fields {
			bad = append(bad, fault.Field{Field: "destinationAddress", Message: field.Message, Constraint: field.Constraint})
		}
	}
	return bad
}

// lightningField returns the field of a Lightning account that has this form of address.
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
