package audit_test

import (
	"slices"
	"testing"

	"github.com/google/uuid"

	"causeway/app/audit"
	"causeway/core/ident"
)

func TestCheck_FindsEditsOfPrices(t *testing.T) {
	t.Parallel()
	// An operator sets prices for the platform and for all, changes and resets them. Whoever then changes, deletes or inserts
	// one without the history, or takes a change out of it, is named with the corridor, also by the check of one platform.
	e := newEnv(t)
	e.asOwner(`
		INSERT INTO corridor_overrides (platform_id, source, destination, fee_fixed, fee_fraction) SELECT id, 'USD', 'EUR', 10, '0.002' FROM platforms;
		INSERT INTO corridor_overrides (source, destination, fee_fixed, max_sending) VALUES ('USD', 'BTC', 30, 1000), ('EUR', 'BTC', 1, NULL);
		UPDATE corridor_overrides SET fee_fixed = 20 WHERE destination = 'BTC';
		DELETE FROM corridor_overrides WHERE source = 'EUR'`)
	check := func(checker *audit.Checker) (found []string, checked int64) {
		t.Helper()
		report, err := checker.Check(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range report.Findings {
			found = append(found, f.Message)
		}
		return found, report.Rules[slices.IndexFunc(report.Rules, func(r audit.RuleReport) bool { return r.Rule == audit.RulePrices })].Checked
	}
	if found, checked := check(e.newService(nil)); len(found) > 0 || checked != 3 {
		t.Fatalf("%d checked, found %q", checked, found)
	}
	own := "USD to EUR on " + e.platform.String()
	for edit, want := range map[string]string{
		"UPDATE corridor_overrides SET fee_fixed = 0 WHERE platform_id IS NOT NULL": own +
			" has fee-fixed 0, fee-percent 0.2%, and by its last change, 1, it has fee-fixed 10, fee-percent 0.2%",
		"UPDATE corridor_overrides SET max_sending = NULL": "USD to BTC on all platforms has " +
			"fee-fixed 20, and by its last change, 4, it has fee-fixed 20, max 1000",
		"UPDATE corridor_overrides SET fee_fraction = '2' WHERE destination = 'BTC'": "prices cannot be read: " +
			"corridor_overrides USD to BTC: fee_fraction: not a usable rate: 2 is above 1",
		"DELETE FROM corridor_overrides WHERE platform_id IS NOT NULL": own +
			" has the built-in terms, and by its last change, 1, it has fee-fixed 10, fee-percent 0.2%",
		"INSERT INTO corridor_overrides (source, destination, fee_fixed) VALUES ('EUR', 'BTC', 0)": "EUR to BTC on all platforms has " +
			"fee-fixed 0, and by its last change, 6, it has the built-in terms",
		"INSERT INTO corridor_overrides (source, destination, lock_seconds) VALUES ('EUR', 'USD', 60)": "EUR to USD on all platforms has lock " +
			"1m, and no change of it is recorded",
		"DELETE FROM corridor_changes WHERE seq = 2": "change 4 of USD to BTC on all " +
			"platforms begins with fee-fixed 30, max 1000, and what was recorded before ends with the built-in terms",
	} {
		e.execAsSuperuser("CREATE TABLE prices AS TABLE corridor_overrides; CREATE TABLE changes AS TABLE corridor_changes; " + edit)
		for name, checker := range map[string]*audit.Checker{"all platforms": e.newService(nil),
			"the platform": e.newService(nil).Of(e.platform)} {
			if found, _ := check(checker); !slices.Equal(found, []string{want}) {
				t.Errorf("%s, check of %s:\nfound %q\nwant  %q", edit, name, found, want)
			}
		}
		e.execAsSuperuser(`DELETE FROM corridor_overrides; INSERT INTO corridor_overrides SELECT * FROM prices; DROP TABLE prices;
			DELETE FROM corridor_changes; INSERT INTO corridor_changes OVERRIDING SYSTEM VALUE SELECT * FROM changes; DROP TABLE changes`)
	}

	var other ident.Platform
	other.SetUUID(uuid.UUID{9})
	e.execAsSuperuser("UPDATE corridor_overrides SET fee_fixed = 0 WHERE platform_id IS NOT NULL")
	if found, checked := check(e.newService(nil).Of(other)); len(found) > 0 || checked != 2 {
		t.Errorf("of another platform: %d checked, found %q", checked, found)
	}
}
