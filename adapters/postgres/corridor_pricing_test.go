package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/core/books"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ports"
)

func TestCorridorOverrides_RoundTrip(t *testing.T) {
	t.Parallel()
	// All overrides are read, those for all platforms first. NULL keeps the built-in value.
	c := newEnv(t)
	operator := pgtest.Connect(t, c.url)
	if _, err := operator.Exec(t.Context(), `INSERT INTO corridor_overrides VALUES
		($1, 'USD', 'BTC', 0, '0.0025', NULL, NULL, NULL),
		(NULL, 'USD', 'EUR', NULL, NULL, 200, 50000, 90)`, c.platform.ID.UUID()); err != nil {
		t.Fatal(err)
	}

	found, err := c.CorridorOverrides(t.Context())

	zero, least, most, lock, fraction := int64(0), int64(200), int64(50000), 90*time.Second, money.MustRate("0.0025")
	want := []ports.CorridorOverride{
		{From: "USD", To: "EUR", Terms: corridor.Override{MinSending: &least, MaxSending: &most, Lock: &lock}},
		{Platform: c.platform.ID, From: "USD", To: "BTC", Terms: corridor.Override{Fixed: &zero, Percent: &fraction}},
	}
	if err != nil || !reflect.DeepEqual(found, want) {
		t.Errorf("read %+v, %v\nwant %+v", found, err, want)
	}

	// An invalid fee is an error that names its row, not a corridor without fees.
	if _, err := operator.Exec(t.Context(), `UPDATE corridor_overrides SET fee_fraction = '1.5' WHERE destination = 'EUR'`); err != nil {
		t.Fatal(err)
	}
	if found, err := c.CorridorOverrides(t.Context()); err == nil {
		t.Errorf("a fee above the amount: %+v", found)
	}
}

func TestCorridorChanges_AppendOnly(t *testing.T) {
	t.Parallel()
	// Even the owner of the database cannot change or delete the history or truncate the
	// overrides. The role of the service cannot change overrides at all.
	c := newEnv(t)
	terms := corridor.Override{Fixed: new(int64(7)), Percent: new(money.MustRate("0.0025"))}
	if err := saveOverride(t, c.DB, terms, ports.CorridorAuthor{Note: "why"}); err != nil {
		t.Fatal(err)
	}
	operator := pgtest.Connect(t, c.url)
	for _, statement := range []string{
		"UPDATE corridor_changes SET new_fee_fixed = 0", "DELETE FROM corridor_changes", "TRUNCATE corridor_changes",
		"TRUNCATE corridor_overrides",
	} {
		_, err := operator.Exec(t.Context(), statement)
		wantCode(t, statement, err, "23001")
	}
	for _, statement := range []string{
		"UPDATE corridor_overrides SET fee_fixed = 0", "DELETE FROM corridor_overrides",
		"INSERT INTO corridor_overrides VALUES (NULL, 'USD', 'EUR', 1)",
		"INSERT INTO corridor_changes (note, source, destination) VALUES ('', 'USD', 'EUR')", "DELETE FROM corridor_changes",
	} {
		_, err := c.Pool().Exec(t.Context(), statement)
		wantCode(t, statement, err, "42501")
	}
	changes, err := c.CorridorChanges(t.Context(), ports.CorridorChangeFilter{})
	if err != nil || len(changes) != 1 || changes[0].Note != "why" || *changes[0].After.Fixed != 7 ||
		*changes[0].After.Percent != money.MustRate("0.0025") {
		t.Errorf("the history is %+v, %v", changes, err)
	}

	// After the change, the connections of the pool have the role of the service again.
	var role string
	if err := c.Pool().QueryRow(t.Context(), "SELECT current_user").Scan(&role); err != nil || role != "causeway_service" {
		t.Errorf("the role of the pool is %s, %v", role, err)
	}
}

func TestCorridorChanges_RecordsManualSQL(t *testing.T) {
	t.Parallel()
	// Any statement is recorded. A row moved to another pair is recorded as removed from one and
	// added to the other; an update with the same values is not recorded.
	c := newEnv(t)
	operator := pgtest.Connect(t, c.url)
	for _, statement := range []string{
		"INSERT INTO corridor_overrides (source, destination, fee_fixed, lock_seconds) VALUES ('USD', 'BTC', 1, 60)",
		"UPDATE corridor_overrides SET fee_fixed = 1",
		"UPDATE corridor_overrides SET min_sending = 2, max_sending = 3, fee_fraction = '0.5'",
		"UPDATE corridor_overrides SET destination = 'EUR'",
		"DELETE FROM corridor_overrides",
	} {
		if _, err := operator.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}

	changes, err := c.CorridorChanges(t.Context(), ports.CorridorChangeFilter{})

	if err != nil {
		t.Fatal(err)
	}
	first := corridor.OverrideInput{Fixed: "1", Lock: "1m"}
	whole := corridor.OverrideInput{Fixed: "1", Lock: "1m", Min: "2", Max: "3", Percent: "50%"}
	want := []struct {
		to            money.Currency
		before, after corridor.OverrideInput
	}{{to: "BTC", after: first}, {"BTC", first, whole}, {to: "BTC", before: whole}, {to: "EUR", after: whole}, {to: "EUR", before: whole}}
	if len(changes) != len(want) {
		t.Fatalf("%d changes, want %d: %+v", len(changes), len(want), changes)
	}
	for i, change := range changes {
		if change.To != want[i].to || change.Before.Format() != want[i].before || change.After.Format() != want[i].after {
			t.Errorf("change %d: %s from %+v to %+v, want %+v", i, change.To, change.Before.Format(), change.After.Format(), want[i])
		}
	}
}

func TestChangePricing_ServiceOnlyAsProposed(t *testing.T) {
	t.Parallel()
	// With a login of the service only, nothing is proposed, and the error of a change says which login to use. A change that the owner has
	// proposed is carried out as it was proposed, with another value it is not, and not for another corridor, and not twice.
	c := newEnv(t)
	web := openService(t, c)
	terms := corridor.Override{Fixed: new(int64(7)), Percent: new(money.MustFraction("0.0125")), Lock: new(90 * time.Second)}
	propose := func(after string) (p proposal.Proposal) {
		p = proposal.New(ident.NewProposal(generator.New, noon), ident.Platform{}, books.ActionPrice, "corridors set",
			[]byte(`{"from": "USD", "to": "BTC", "after": {"override": `+after+`}}`), platform.Author{Actor: "Ana"}, proposal.People{}, time.Now())
		c.mustChangePricing(t, func(ctx context.Context, tx *postgres.PricingTx) error { return tx.CreateProposal(ctx, p) })
		return p
	}
	by := func(p proposal.Proposal) ports.CorridorAuthor {
		return ports.CorridorAuthor{By: "Ana", Approval: platform.Approval{Proposal: p.ID, By: platform.Author{Actor: "Ben"}}}
	}
	const proposed = `{"fee-fixed": "7", "fee-percent": "1.25%", "lock": "90s"}`
	first := propose(proposed)

	err := saveOverride(t, web, terms, ports.CorridorAuthor{})
	wantCode(t, "a change", err, "42501")
	if err == nil || !strings.Contains(err.Error(), "migrates the database") {
		t.Errorf("the error does not say what to do: %v", err)
	}
	wantCode(t, "a proposal", ports.Do(t.Context(), web.Pricing(), func(ctx context.Context, tx *postgres.PricingTx) error {
		return tx.CreateProposal(ctx, newPriceProposal(ident.Platform{}))
	}), "42501")
	for name, other := range map[string]corridor.Override{"the fee": {Fixed: new(int64(8)), Percent: terms.Percent, Lock: terms.Lock},
		"the lock": {Fixed: terms.Fixed, Percent: terms.Percent, Lock: new(91 * time.Second)}, "one value less": {Fixed: terms.Fixed},
		"a reset": {}} {
		if name == "a reset" { // of what is there
			if err := saveOverride(t, c.DB, terms, ports.CorridorAuthor{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := saveOverride(t, web, other, by(first)); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s is another one: %v", name, err)
		}
	}
	if err := saveOverride(t, c.DB, corridor.Override{}, ports.CorridorAuthor{}); err != nil {
		t.Fatal(err)
	}
	if err := saveOverride(t, web, terms, by(first)); err != nil {
		t.Errorf("as proposed: %v", err)
	}
	if err := saveOverride(t, web, corridor.Override{}, by(propose("{}"))); err != nil {
		t.Errorf("a reset as proposed: %v", err)
	}
	if changes, err := c.CorridorChanges(t.Context(), ports.CorridorChangeFilter{}); err != nil || len(changes) == 0 ||
		changes[len(changes)-1].Approval.By.Actor != "Ben" {
		t.Errorf("the history is %+v, %v", changes, err)
	}
}

func TestServiceLogin_TemporaryTablesStandForNoOthers(t *testing.T) {
	t.Parallel()
	// A login of the service that makes temporary tables with the names of others, such as a catalog in which it owns everything, or
	// proposals that nobody has made, still changes no price and no connection.
	c := newEnv(t)
	web := openService(t, c)
	const (
		platforms = "SET causeway.platform = '*';"
		proposal  = "SELECT set_config('causeway.proposal', '019d4652-6c20-7cfc-9a0e-56330a1c25b9', false);"
		price     = "INSERT INTO corridor_overrides (source, destination, fee_fixed) VALUES ('USD', 'BTC', 7)"
		test      = "INSERT INTO rail_tests (connection, version, passed, checked, tested_at) VALUES ('bank', 1, true, '{}', now())"
	)
	for name, statements := range map[string]string{
		"a catalog, a price": `CREATE TEMPORARY TABLE pg_class AS SELECT oid, (SELECT oid FROM pg_roles WHERE rolname = current_user) AS relowner
			FROM pg_catalog.pg_class; ` + price,
		"a catalog, a test": `CREATE TEMPORARY TABLE pg_class AS SELECT oid, (SELECT oid FROM pg_roles WHERE rolname = current_user) AS relowner
			FROM pg_catalog.pg_class; ` + test,
		"a proposal": proposal + `CREATE TEMPORARY TABLE corridor_proposals AS SELECT '019d4652-6c20-7cfc-9a0e-56330a1c25b9'::uuid AS id,
			'PENDING' AS status, now() + interval '1 hour' AS expires_at, NULL::uuid AS platform_id,
			'{"from": "USD", "to": "BTC", "after": {"override": {"fee-fixed": "7"}}}' AS request; ` + price,
	} {
		conn, err := web.Pool().Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, err = conn.Exec(t.Context(), platforms+statements, pgx.QueryExecModeSimpleProtocol)
		if refused, is := errors.AsType[*pgconn.PgError](err); !is || refused.Code != "42501" && refused.Code != "23001" {
			t.Errorf("%s: %v", name, err)
		}
		_ = conn.Conn().Close(t.Context())
		conn.Release()
	}
}

// openService opens the database with a login that has the rights of the service only.
func openService(t *testing.T, c *env) *postgres.DB {
	t.Helper()
	operator := pgtest.Connect(t, c.url)
	login := fmt.Sprintf("web_%x", c.platform.ID.UUID().NodeID())
	if _, err := operator.Exec(t.Context(), "CREATE ROLE "+login+" LOGIN PASSWORD 'web'; GRANT causeway_service TO "+login,
		pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dropRole(t, c.url, login) })
	address, err := url.Parse(c.url)
	if err != nil {
		t.Fatal(err)
	}
	address.User = url.UserPassword(login, "web")
	return openDB(t, address.String())
}

// saveOverride sets the override from USD to BTC for all platforms.
func saveOverride(t *testing.T, db *postgres.DB, terms corridor.Override, by ports.CorridorAuthor) error {
	return ports.Do(t.Context(), db.Pricing(), func(ctx context.Context, tx *postgres.PricingTx) error {
		return tx.SaveOverride(ctx, ports.CorridorOverride{From: "USD", To: "BTC", Terms: terms}, by)
	})
}

func dropRole(t *testing.T, url, login string) {
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(context.Background(), "DROP ROLE "+login); err != nil {
		t.Error(err)
	}
}

func TestPriceSettings_RoundTrip(t *testing.T) {
	t.Parallel()
	// The settings of every platform are read as they are.
	c := newEnv(t)
	changed := c.platform
	changed.Currencies[0].MinAmount, changed.Currencies[0].MaxAmount, changed.Currencies[0].Directions = 500, 900, []string{"INCOMING"}
	changed.Fees = []platform.FeeConfig{{Type: platform.CrossCurrencyTransaction, Source: "USD",
		Fee: platform.Fee{Fixed: money.Amount{Minor: 25, Currency: "USD"}, BasisPoints: 10}}}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.UpdatePlatform(ctx, changed) })

	found, err := c.PriceSettings(t.Context())

	if err != nil {
		t.Fatal(err)
	}
	got := map[ident.Platform]platform.Platform{}
	for _, of := range found {
		got[of.ID] = of
	}
	if want := map[ident.Platform]platform.Platform{
		c.platform.ID:      {ID: c.platform.ID, Currencies: changed.Currencies, Fees: changed.Fees},
		c.otherPlatform.ID: {ID: c.otherPlatform.ID, Currencies: c.otherPlatform.Currencies}}; !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v\nwant %+v", got, want)
	}
}

func wantCode(t *testing.T, what string, err error, code string) {
	t.Helper()
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code != code {
		t.Errorf("%s: %v, want the code %s", what, err, code)
	}
}
