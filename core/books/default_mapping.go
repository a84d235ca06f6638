package books

// DefaultMapping returns the built-in mapping: assets are 1xxx, liabilities 2xxx, equity 3xxx, income 4xxx,
// expenses 5xxx and 6xxx, and trading accounts 7xxx.
func DefaultMapping() Mapping { return defaultMapping }

// defaultMapping has a line for every line of the chart.
var defaultMapping = StoredMapping([]MappingLine{
	{"own/*", "", GLAccount{"1000", "Own funds at banks and partners"}},
	{"rails/*", "", GLAccount{"1100", "Funds at payment partners"}},
	{"chains/*", "", GLAccount{"1200", "Funds on blockchains"}},
	{"transit/client-money", "", GLAccount{"1250", "Customers' money in transit"}},
	{"transit/treasury", "", GLAccount{"1260", "Own money in transit"}},
	{"partner-receivables/*", "", GLAccount{"1300", "Receivables from partners"}},
	{"customer-receivables/*", "", GLAccount{"1350", "Receivables from customers"}},
	{"allowance/receivables", "", GLAccount{"1360", "Allowance for receivables"}},
	{"asset/taxes", "", GLAccount{"1400", "Taxes to be refunded"}},
	{"asset/*", "", GLAccount{"1900", "Other assets"}},

	{"customers/*", "", GLAccount{"2000", "Customer balances"}},
	{"wallets/*", "", GLAccount{"2010", "Embedded wallet balances"}},
	{"platform/*", "", GLAccount{"2020", "Platform balances"}},
	{"funding/jit", "", GLAccount{"2100", "Just-in-time funding received"}},
	{"funding/unmatched", "", GLAccount{"2110", "Unmatched funds"}},
	{"transit/payouts", "", GLAccount{"2200", "Payouts in transit"}},
	{"transit/refunds", "", GLAccount{"2210", "Refunds owed to payers"}},
	{"transit/internal", "", GLAccount{"2220", "Payments between customers in transit"}},
	{"partner-payables/*", "", GLAccount{"2300", "Payables to partners"}},
	{"liability/taxes", "", GLAccount{"2400", "Taxes to be paid"}},
	{"liability/deferred-fees", "", GLAccount{"2500", "Deferred fee income"}},
	{"liability/*", "", GLAccount{"2900", "Other liabilities"}},

	{"equity/capital", "", GLAccount{"3000", "Paid-in capital"}},
	{"equity/retained-earnings", "", GLAccount{"3100", "Retained earnings"}},
	{"equity/brought-forward", "", GLAccount{"3200", "Balances brought forward"}},
	{"equity/*", "", GLAccount{"3900", "Other equity"}},

	{"income/fees", "", GLAccount{"4000", "Fee income"}},
	{"income/rounding", "", GLAccount{"4100", "Rounding differences"}},
	{"income/exchange-gains", "", GLAccount{"4200", "Realised exchange gains"}},
	{"income/unrealised-exchange-gains", "", GLAccount{"4210", "Unrealised exchange gains"}},
	{"income/*", "", GLAccount{"4900", "Other income"}},

	{"expense/rails", "", GLAccount{"5000", "Payment partner fees"}},
	{"expense/chargebacks", "", GLAccount{"5100", "Chargebacks"}},
	{"expense/write-offs", "", GLAccount{"5200", "Write-offs"}},
	{"expense/exchange-losses", "", GLAccount{"6000", "Realised exchange losses"}},
	{"expense/unrealised-exchange-losses", "", GLAccount{"6010", "Unrealised exchange losses"}},
	{"expense/taxes", "", GLAccount{"6100", "Taxes"}},
	{"expense/*", "", GLAccount{"6900", "Other expenses"}},

	{"fx/position", "", GLAccount{"7000", "Foreign exchange position"}},
	{"fx/valuation", "", GLAccount{"7100", "Valuation of the foreign exchange position"}},
})
