package corridor_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/money"
)

func TestChoose(t *testing.T) {
	// The fastest rail whose limit allows the amount is chosen.
	t.Parallel()
	tests := []struct {
		name     string
		currency money.Currency
		country  string
		minor    int64
		want     corridor.Rail
	}{
		{"dollars go by RTP", "USD", "US", 100_50, corridor.RTP},
		{"dollars at the limit of RTP", "USD", "US", 10_000_000_00, corridor.RTP},
		{"dollars above the limit of RTP go by wire", "USD", "US", 10_000_000_01, corridor.Wire},
		{"euro go by SEPA Instant", "EUR", "DE", 100_000_00, corridor.SEPAInstant},
		{"large euro amounts use slow SEPA", "EUR", "DE", 100_000_01, corridor.SEPA},
		{"kroner in Denmark", "DKK", "DK", 750_000_01, corridor.SEPA},
		{"euro in Denmark", "EUR", "DK", 100, corridor.SEPAInstant},
		{"pounds", "GBP", "GB", 1_000_000_00, corridor.FasterPayments},
		{"large pounds", "GBP", "GB", 1_000_000_01, corridor.BankTransfer},
		{"reais", "BRL", "BR", 5_000_000_00, corridor.PIX},
		{"pesos", "MXN", "MX", 5_000_000_00, corridor.SPEI},
		{"rupees", "INR", "IN", 100_000_00, corridor.UPI},
		{"Singapore dollars", "SGD", "SG", 200_000_00, corridor.FAST},
		{"large Singapore dollars", "SGD", "SG", 200_000_01, corridor.BankTransfer},
		{"rand", "ZAR", "ZA", 1, corridor.BankTransfer},
		{"shillings reach a phone", "KES", "KE", 1, corridor.MobileMoney},
		{"no country", "PHP", "", 1, corridor.BankTransfer},
		{"bitcoin", "BTC", "", 1, corridor.Layer2},
		{"USDC", "USDC", "", 1, corridor.Altchain},
		{"USDT", "USDT", "", 1, corridor.Tron},
		{"USDB", "USDB", "", 1, corridor.Layer2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, err := chooseRail(tt.currency, tt.country, tt.minor)

			if err != nil || got != tt.want {
				t.Errorf("ChooseRail(%s, %q, %d) = %q, %v; want %q", tt.currency, tt.country, tt.minor, got, err, tt.want)
			}
		})
	}
}

func TestChoose_RejectsUnsupported(t *testing.T) {
	// A payment that no rail can carry is refused, with the code of the reason.
	t.Parallel()
	tests := []struct {
		name     string
		currency money.Currency
		country  string
		minor    int64
		code     fault.Code
	}{
		{"more shillings than M-PESA carries", "KES", "KE", 250_000_01, fault.AmountOutOfRange},
		{"announced only", "CAD", "CA", 1, fault.InvalidCurrency},
		{"euro to Britain", "EUR", "GB", 1, fault.InvalidCurrency},
		{"unsupported country", "USD", "AQ", 1, fault.InvalidCurrency},
		{"unsupported currency", "JPY", "", 1, fault.InvalidCurrency},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got, err := chooseRail(tt.currency, tt.country, tt.minor)

			if !fault.Is(err, tt.code) {
				t.Errorf("got %q, %v; want the code %s", got, err, tt.code)
			}
		})
	}
}

func TestChoose_LimitsOfRails(t *testing.T) {
	// UPI carries one lakh at most, RTGS two lakh at least, and NEFT what is between; a rail alone refuses what is beyond its limits,
	// and says which limit that is.
	t.Parallel()
	indian := []corridor.Rail{corridor.UPI, corridor.NEFT, corridor.RTGS}
	for _, tt := range []struct {
		rails    []corridor.Rail
		currency money.Currency
		minor    int64
		want     corridor.Rail
		limit    string
		amount   int64
	}{
		{indian, "INR", 100_000_00, corridor.UPI, "", 0},
		{indian, "INR", 100_000_01, corridor.NEFT, "", 0},
		{indian, "INR", 199_999_99, corridor.NEFT, "", 0},
		{indian, "INR", 200_000_00, corridor.RTGS, "", 0},
		{indian[:1], "INR", 100_000_01, "", "maxAmount", 100_000_00},
		{indian[2:], "INR", 199_999_99, "", "minAmount", 200_000_00},
		{corridor.BankSystems("PH"), "PHP", 50_000_00, corridor.InstaPay, "", 0},
		{corridor.BankSystems("PH"), "PHP", 50_000_01, corridor.PESONet, "", 0},
		{[]corridor.Rail{corridor.InstaPay}, "PHP", 50_000_01, "", "maxAmount", 50_000_00},
	} {
		got, err := corridor.Choose(tt.rails, tt.currency, tt.minor)
		if got != tt.want || (err != nil) != (tt.limit != "") {
			t.Errorf("%v for %d: %q, %v; want %q", tt.rails, tt.minor, got, err, tt.want)
		}
		refused, ok := fault.As(err)
		if tt.limit != "" && (!ok || refused.Code != fault.AmountOutOfRange || refused.Details[tt.limit] != tt.amount) {
			t.Errorf("%v for %d: %+v; want the %s %d", tt.rails, tt.minor, err, tt.limit, tt.amount)
		}
	}
}

func TestBankSystems_AreBehindBankTransfers(t *testing.T) {
	// The payment systems that payments may name are known rails of banks, of countries whose bank transfers they carry.
	t.Parallel()
	for _, code := range []string{"CN", "CO", "PH"} {
		systems := corridor.BankSystems(code)
		country, known := corridor.CountryByCode(code)
		if len(systems) != 2 || !known || country.Live && !slices.Contains(country.Rails, corridor.BankTransfer) {
			t.Errorf("%s: %v, %+v", code, systems, country)
		}
		for _, system := range systems {
			if !system.Known() || system.IsChain() || slices.Contains(country.Rails, system) {
				t.Errorf("%s: %s", code, system)
			}
		}
	}
	if systems := corridor.BankSystems("DE"); systems != nil {
		t.Errorf("DE: %v", systems)
	}
}

func TestChoose_LimitCoversAmount(t *testing.T) {
	// For any corridor and amount, the chosen rail is one of the corridor's and its limit is at
	// least the amount. If no rail is chosen, every limit is below the amount.
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		country := rapid.SampledFrom(corridor.Countries()).Draw(t, "country")
		currency := rapid.SampledFrom(country.Currencies).Draw(t, "currency")
		minor := rapid.Int64Range(1, money.MaxMinor).Draw(t, "minor")
		among, err := corridor.RailsTo(currency, country.Code)
		if err != nil {
			return
		}

		rail, err := chooseRail(currency, country.Code, minor)

		carries := func(r corridor.Rail) bool {
			most, limited := r.MaxAmount(currency)
			return !limited || minor <= most
		}
		if err != nil {
			if slices.ContainsFunc(among, carries) {
				t.Fatalf("refused %d %s to %s although one of %v carries it: %v", minor, currency, country.Code, among, err)
			}
			return
		}
		if !slices.Contains(among, rail) || !carries(rail) {
			t.Fatalf("chose %s of %v for %d %s", rail, among, minor, currency)
		}
	})
}

func TestChoose_EveryRailCanBeChosen(t *testing.T) {
	// Each rail can be chosen if it is the only one, so none is missing from the order of preference.
	t.Parallel()
	for _, rail := range corridor.Rails() {
		got, err := corridor.Choose([]corridor.Rail{rail}, "PYG", 1)
		if err != nil || got != rail {
			t.Errorf("Choose(%s) = %q, %v", rail, got, err)
		}
	}
	if _, err := corridor.Choose(nil, "USD", 1); err == nil {
		t.Error("Choose without rails returned a rail")
	}
}

func TestRail_IsInstantAndIsChain(t *testing.T) {
	// Only bank transfers are slow, and only the nine below are chains.
	t.Parallel()
	slow := []corridor.Rail{corridor.ACH, corridor.BankTransfer, corridor.MobileMoney, corridor.SEPA, corridor.SWIFT, corridor.Wire,
		corridor.ACHColombia, corridor.CIPS, corridor.NEFT, corridor.PESONet, corridor.RTGS, corridor.UnionPay}
	chains := []corridor.Rail{corridor.Layer2, corridor.Lightning, corridor.Altchain, corridor.Base, corridor.Polygon, corridor.Ethereum,
		corridor.Plasma, corridor.Tron, corridor.Bitcoin}
	for _, rail := range corridor.Rails() {
		if rail.IsInstant() == slices.Contains(slow, rail) {
			t.Errorf("%s: IsInstant() = %v", rail, rail.IsInstant())
		}
		if rail.IsChain() != slices.Contains(chains, rail) {
			t.Errorf("%s: IsChain() = %v", rail, rail.IsChain())
		}
		if !rail.Known() {
			t.Errorf("%s is not known", rail)
		}
	}
	if corridor.Rail("CARRIER_PIGEON").Known() {
		t.Error("an unknown rail is known")
	}
}

// chooseRail returns the rail for a payment of minor units to a country.
func chooseRail(currency money.Currency, country string, minor int64) (corridor.Rail, error) {
	rails, err := corridor.RailsTo(currency, country)
	if err != nil {
		return "", err
	}
	return corridor.Choose(rails, currency, minor)
}

func TestAtPath(t *testing.T) {
	// Every rail is found at its own path. The path of an unknown chain is no rail's, and above all not
	// that of a bank rail with the name of the chain.
	t.Parallel()
	for _, rail := range append(corridor.Rails(), "UMA") {
		if got, ok := corridor.AtPath(rail.LedgerPath()); !ok || got != rail {
			t.Errorf("AtPath(%s) = %q, %v", rail.LedgerPath(), got, ok)
		}
	}
	for _, path := range []string{"chains/DOGE", "chains/RTP", "rails/TRON", "customers/RTP", "income/fees", "RTP", ""} {
		if got, ok := corridor.AtPath(path); ok {
			t.Errorf("AtPath(%q) = %q", path, got)
		}
	}
}

func TestRail_PublicNames(t *testing.T) {
	// Each rail has one public name, by which it is found; a chain that of its network. The name of the
	// rail itself is understood too.
	t.Parallel()
	seen := map[string]bool{}
	for _, rail := range append(corridor.Rails(), "UMA") {
		name := rail.PublicName()
		if seen[name] || corridor.RailNamed(name) != rail || corridor.RailNamed(string(rail)) != rail {
			t.Errorf("%s has the name %q, which is that of %s", rail, name, corridor.RailNamed(name))
		}
		seen[name] = true
	}
	if corridor.Altchain.PublicName() != "SOLANA" || corridor.Layer2.PublicName() != "SPARK" || corridor.RTP.PublicName() != "RTP" {
		t.Errorf("names %q", corridor.PublicNames(corridor.Rails()))
	}
	_, err := corridor.ChainFor(money.USDC, "TRON", "source.cryptoNetwork")
	refused, ok := fault.As(err)
	if !ok || len(refused.Fields) != 1 || refused.Fields[0].Message != "must be a network of USDC: SOLANA, BASE, POLYGON, ETHEREUM" {
		t.Errorf("USDC on TRON: %+v", err)
	}
}
