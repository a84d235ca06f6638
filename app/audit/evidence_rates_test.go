package audit_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/core/money"
	"causeway/core/price"
	"causeway/ledger"
)

// keepRates keeps the rates of a time as the service does.
func (e *evidenceEnv) keepRates(at time.Time, euro string, more ...money.Currency) {
	e.t.Helper()
	rates := map[money.Currency]price.KeptRate{"USD": {Rate: money.MustRate("1"), At: at, Source: "FIXED"},
		"EUR": {Rate: money.MustRate(euro), At: at, Source: "ECB"}}
	for _, currency := range more {
		rates[currency] = price.KeptRate{Rate: money.MustRate("2"), At: at, Source: "ECB"}
	}
	if err := e.Store.KeepRates(e.t.Context(), price.KeptRates{At: at, InUSD: rates}); err != nil {
		e.t.Fatal(err)
	}
}

// setFunctionalCurrency stores a version of the settings of the platform as the service does.
func (e *evidenceEnv) setFunctionalCurrency(version int, currency string) {
	e.t.Helper()
	if err := e.saveFunctionalCurrency(version, currency); err != nil {
		e.t.Fatal(err)
	}
}

func (e *evidenceEnv) saveFunctionalCurrency(version int, currency string) error {
	_, err := e.Store.Pool().Exec(e.t.Context(), `
		INSERT INTO ledger_settings (platform_id, version, changed_at, actor, note, functional_currency, unrealised_result, fee_recognition, year_end_month, four_eyes)
		SELECT platform_id, $1, now(), 'ops', '', $2, 'REVERSE', 'DELIVERY', 12, '{}' FROM ledger_clocks`, version, currency)
	return err
}

// sealedRates returns the subjects of the sealed facts of market rates, in order.
func (e *evidenceEnv) sealedRates() (subjects []string) {
	e.t.Helper()
	if err := e.Store.Pool().QueryRow(e.t.Context(),
		`SELECT array_agg(f.subject ORDER BY e.seq, f.subject) FROM ledger_evidence e CROSS JOIN LATERAL unnest(e.kinds, e.subjects) f (kind, subject)
		WHERE f.kind = $1`, string(ledger.FactMarketRates)).Scan(&subjects); err != nil {
		e.t.Fatal(err)
	}
	return subjects
}

func TestEvidence_RatesOfTheServiceAreNoFindings(t *testing.T) {
	t.Parallel()
	// Rates are sealed for a platform once it has a functional currency, those from before too, and once: also if its settings
	// change again. What the service keeps later, adds for the same time and deletes when it is old is no finding, before and
	// after it is sealed.
	e := newEvidenceEnv(t)
	unchanged := func(step string) {
		t.Helper()
		for _, sealed := range []string{"not sealed", "sealed"} {
			if _, findings := e.verifyEvidence(); len(findings) > 0 {
				t.Errorf("%s, %s: %q", step, sealed, findings)
			}
			e.seal()
		}
	}
	e.keepRates(noon, "1.1")
	e.keepRates(noon.Add(time.Hour+123*time.Microsecond), "1.2")
	unchanged("without a functional currency")
	if sealed := e.sealedRates(); len(sealed) > 0 {
		t.Errorf("without a functional currency %q are sealed", sealed)
	}

	e.setFunctionalCurrency(1, "")
	e.setFunctionalCurrency(2, "USD")
	unchanged("with a functional currency")
	e.setFunctionalCurrency(3, "USD")
	e.keepRates(noon.Add(2*time.Hour), "1.3")
	unchanged("kept")
	e.setFunctionalCurrency(4, "")
	e.keepRates(noon.Add(2*time.Hour), "9", "GBP")
	unchanged("kept again, with another currency")
	if err := e.Store.DeleteOld(t.Context(), postgres.RetentionCutoffs{MarketRates: noon.Add(time.Minute)}, func(string, int) {}); err != nil {
		t.Fatal(err)
	}
	unchanged("deleted")

	want := []string{"2026-11-20 12:00:00+00", "2026-11-20 13:00:00.000123+00", "2026-11-20 14:00:00+00", "2026-11-20 14:00:00+00",
		"2026-11-20 12:00:00+00"}
	if sealed := e.sealedRates(); !slices.Equal(sealed, want) {
		t.Errorf("sealed are %q, want %q", sealed, want)
	}
}

func TestEvidence_SealsRatesKeptBesideFirstFunctionalCurrency(t *testing.T) {
	t.Parallel()
	// Rates whose commit is under way when a platform chooses its first functional currency are sealed for it.
	e := newEvidenceEnv(t)
	keeping, err := e.Store.Pool().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = keeping.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := keeping.Exec(t.Context(), "INSERT INTO market_rates VALUES ($1, 'EUR', '1.1', $1, 'ECB')", noon); err != nil {
		t.Fatal(err)
	}
	chosen := make(chan error, 1)
	go func() { chosen <- e.saveFunctionalCurrency(1, "USD") }()
	for waiting := false; !waiting && len(chosen) == 0; {
		if err := e.Store.Pool().QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'market_rates'::regclass AND NOT "+
			"granted)").Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
	if err := keeping.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-chosen; err != nil {
		t.Fatal(err)
	}
	e.seal()

	_, findings := e.verifyEvidence()

	if sealed := e.sealedRates(); len(findings) > 0 || !slices.Equal(sealed, []string{"2026-11-20 12:00:00+00"}) {
		t.Errorf("sealed are %q, found %q", sealed, findings)
	}
}

func TestEvidence_FindsEditsOfRates(t *testing.T) {
	t.Parallel()
	// The owner of the table changes, deletes and inserts market rates, also with all triggers: each is named by the time
	// of the rates.
	e := newEvidenceEnv(t)
	e.setFunctionalCurrency(1, "USD")
	e.keepRates(noon, "1.1")
	e.keepRates(noon.Add(time.Hour), "1.2")
	e.seal()
	fact := func(at string) string { return fmt.Sprintf("the market-rates 2026-11-20 %s+00 of %s", at, e.platform) }
	changed := fact("12:00:00") + " is not what was sealed at 2026-11-20T12:03:00Z: rates was changed"
	inserted := `INSERT INTO market_rates SELECT %s FROM market_rates WHERE kept_at = '2026-11-20 12:00Z' AND currency = 'EUR'`
	for edit, want := range map[string]string{
		"UPDATE market_rates SET usd_rate = '1.3' WHERE usd_rate = '1.1'":                     changed,
		"UPDATE market_rates SET rate_at = rate_at - interval '1 day' WHERE usd_rate = '1.1'": changed,
		"UPDATE market_rates SET source = 'OTHER' WHERE usd_rate = '1.1'":                     changed,
		"DELETE FROM market_rates WHERE usd_rate = '1.1'":                                     changed,
		"DELETE FROM market_rates WHERE kept_at = '2026-11-20 12:00Z'": fact("12:00:00") +
			", sealed at 2026-11-20T12:03:00Z, is missing",
		"UPDATE market_rates SET kept_at = '2026-11-20 12:30Z' WHERE kept_at = '2026-11-20 12:00Z'": fact("12:30:00") +
			" has no evidence",
		fmt.Sprintf(inserted, "kept_at, 'GBP', '2', rate_at, source"): changed,
		fmt.Sprintf(inserted, "'2026-11-20 12:59:59.999999Z', currency, '1.3', rate_at, source"): fact("12:59:59.999999") +
			" has no evidence",
		"UPDATE market_rates SET usd_rate = CASE usd_rate WHEN '1.1' THEN '1.2' ELSE '1.1' END WHERE currency = 'EUR'": changed,
	} {
		for _, execute := range []func(string){e.asOwner, e.execAsSuperuser} { // with and without triggers
			e.execAsSuperuser("CREATE TABLE kept AS TABLE market_rates")
			execute(edit)
			e.seal()
			e.wantFinding(edit, want)
			e.execAsSuperuser("DELETE FROM market_rates; INSERT INTO market_rates SELECT * FROM kept; DROP TABLE kept")
		}
	}
	if _, findings := e.verifyEvidence(); len(findings) > 0 {
		t.Errorf("after everything was put back: %q", findings)
	}
}
