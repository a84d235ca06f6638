package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/core/books"
	"causeway/core/corridor"
	"causeway/core/diff"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/rail"
	"causeway/core/settlement"
	"causeway/ports"
	"causeway/ports/portstest"
)

func TestRailConnections_LatestVersionAndHistory(t *testing.T) {
	t.Parallel()
	// Every version of a connection stays; the latest is in force. A version that another command has stored meanwhile is refused.
	env := newEnv(t)
	db := env.DB
	days := 0
	first := ports.RailConnectionVersion{By: "ana", Note: "new bank", Connection: rail.Connection{Name: "bank-eur",
		Adapter: rail.BankFile, Version: 1,
		Rails: []corridor.Rail{corridor.SEPA}, Currencies: []money.Currency{"EUR"}, Countries: []string{"DE"},
		Platforms: []ident.Platform{env.platform.ID}, Unmatched: env.platform.ID,
		Priority: 3, Limits: []rail.Limit{{Rail: corridor.SEPA, Currency: "EUR", PerPayout: 1, PerHour: 2, PerDay: 3}},
		Settings: map[string]string{"password": "env:P"}, SetAt: noon}}
	first.Schedules = []rail.Schedule{{Rail: corridor.SEPA, Zone: "Europe/Paris", Calendar: settlement.TARGET, Opens: "08:00", CutOff: "24:00",
		SettlesAt: "18:30", Days: &days,
		Holidays: []string{"2026-12-24"}, WorkingDays: []string{"2026-05-01"}, Hold: true}, {Rail: corridor.SEPAInstant, Takes: 90 * time.Second}}
	second := first
	second.Version, second.By, second.Note, second.Countries = 2, "ben", "every country", nil
	second.Schedules, second.Exclusive = nil, []string{"the account DE89"}
	other := ports.RailConnectionVersion{By: "ana", Note: "wallet", Connection: rail.Connection{Name: "base", Adapter: rail.EVM, Version: 1,
		Rails: []corridor.Rail{corridor.Base}, Currencies: []money.Currency{"USDC"}, SetAt: noon}}
	for _, v := range []ports.RailConnectionVersion{first, second, other} {
		portstest.SaveConnection(t, db.Connections(), v)
	}

	seen, err := db.RailConnections(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again := saveConnection(t, db, second, nil, seen)
	latest, err := db.RailConnections(t.Context())
	history, errHistory := db.RailConnectionHistory(t.Context(), "bank-eur")

	if !errors.Is(again, ports.ErrRailConnectionChanged) || err != nil || errHistory != nil {
		t.Fatalf("%v, %v, %v", again, err, errHistory)
	}
	first.Latest, second.Latest, other.Latest = 2, 2, 1
	if want := []ports.RailConnectionVersion{second, other}; !reflect.DeepEqual(latest, want) {
		t.Errorf("connections %+v\nwant %+v", latest, want)
	}
	if want := []ports.RailConnectionVersion{first, second}; !reflect.DeepEqual(history, want) {
		t.Errorf("history %+v\nwant %+v", history, want)
	}
}

// connection returns a version of a connection to a bank.
func connection(name string, version int) ports.RailConnectionVersion {
	return ports.RailConnectionVersion{By: "ana", Note: "new bank", Connection: rail.Connection{Name: name, Adapter: rail.BankFile,
		Version: version, Rails: []corridor.Rail{corridor.SEPA}, Currencies: []money.Currency{"EUR"}, SetAt: noon}}
}

func TestRailConnections_InForceIsTheLatestThatWasTested(t *testing.T) {
	t.Parallel()
	// A version is in force from its first test that passes, in place of the one before; one that retires the connection at
	// once. A deleted connection is in force no more, and neither is what was before, when its name is set again.
	env := newEnv(t)
	save := func(version int, edit func(*ports.RailConnectionVersion)) {
		t.Helper()
		v := connection("bank", version)
		edit(&v)
		portstest.SaveConnection(t, env.DB.Connections(), v)
	}
	want := func(want string) {
		t.Helper()
		found, err := env.RailConnections(t.Context())
		got := ""
		for _, v := range found {
			got += fmt.Sprintf("%d of %d untested %t retired %t", v.Version, v.Latest, v.Untested, v.Retired)
		}
		if err != nil || got != want {
			t.Errorf("in force is %q, %v; want %q", got, err, want)
		}
	}
	test := func(version int, passed bool) {
		t.Helper()
		seen, err := env.RailConnections(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := env.SaveRailTest(t.Context(), ports.RailTest{Connection: "bank", Version: version, Passed: passed, Problem: "none", At: noon},
			seen, nil); err != nil {
			t.Fatal(err)
		}
	}
	untested := func(v *ports.RailConnectionVersion) { v.Untested = true }
	save(1, untested)
	want("1 of 1 untested true retired false")
	test(1, true)
	want("1 of 1 untested false retired false")
	save(2, untested)
	test(2, false)
	want("1 of 2 untested false retired false")
	test(2, true)
	test(2, false)
	want("2 of 2 untested false retired false")
	save(3, func(v *ports.RailConnectionVersion) { v.Untested, v.Retired = true, true })
	want("3 of 3 untested true retired true")
	save(4, untested)
	want("3 of 4 untested true retired true")
	save(5, func(v *ports.RailConnectionVersion) { v.Untested, v.Deleted = true, true })
	want("")
	save(6, untested)
	want("6 of 6 untested true retired false")
}

func TestRailConnections_ChangedBesideOtherConnections(t *testing.T) {
	t.Parallel()
	// What was compared with the connections of before is not stored after another one was set, tested or retired.
	env := newEnv(t)
	portstest.SaveConnection(t, env.DB.Connections(), connection("bank", 1))
	pending := connection("new", 1)
	pending.Untested = true
	portstest.SaveConnection(t, env.DB.Connections(), pending)
	seen, err := env.RailConnections(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(seen []ports.RailConnectionVersion) []ports.RailConnectionVersion{
		"set":     func(seen []ports.RailConnectionVersion) []ports.RailConnectionVersion { return seen[:1] },
		"deleted": func(seen []ports.RailConnectionVersion) []ports.RailConnectionVersion { return append(seen, seen[1]) },
		"changed": func(seen []ports.RailConnectionVersion) []ports.RailConnectionVersion {
			seen[0].Version = 2
			return seen
		},
		"tested": func(seen []ports.RailConnectionVersion) []ports.RailConnectionVersion {
			seen[1].Untested = false
			return seen
		},
		"none": func([]ports.RailConnectionVersion) []ports.RailConnectionVersion { return nil },
	} {
		stale := change(slices.Clone(seen))
		test := ports.RailTest{Connection: "new", Version: 1, Passed: true, At: noon}
		if err := saveConnection(t, env.DB, connection("third", 1), nil, stale); !errors.Is(err, ports.ErrRailConnectionChanged) {
			t.Errorf("%s: a version: %v", name, err)
		}
		if err := env.SaveRailTest(t.Context(), test, stale, nil); !errors.Is(err, ports.ErrRailConnectionChanged) {
			t.Errorf("%s: a test: %v", name, err)
		}
	}
	if tests, err := env.RailTests(t.Context(), "new"); err != nil || len(tests) != 0 {
		t.Errorf("tests %+v, %v", tests, err)
	}
}

func TestRailConnections_NeverMoreThanTheMaximum(t *testing.T) {
	t.Parallel()
	// Commands that add connections at the same time do not add more than every process reads. One that exists can be changed.
	env := newEnv(t)
	for n := range rail.MaxConnections - 1 {
		portstest.SaveConnection(t, env.DB.Connections(), connection(fmt.Sprintf("bank-%d", n), 1))
	}
	seen, err := env.RailConnections(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	results := make(chan error, 4)
	for n := range cap(results) {
		running.Go(func() {
			results <- saveConnection(t, env.DB, connection(fmt.Sprintf("bank-%d", rail.MaxConnections+n), 1), nil, seen)
		})
	}
	running.Wait()
	close(results)
	refused := 0
	for err := range results {
		if errors.Is(err, ports.ErrRailConnectionChanged) {
			refused++
		} else if err != nil {
			t.Error(err)
		}
	}

	found, err := env.RailConnections(t.Context())
	if len(found) != rail.MaxConnections || refused != 3 || err != nil {
		t.Errorf("%d connections, %d refused, %v", len(found), refused, err)
	}
	if err := saveConnection(t, env.DB, connection("one-more", 1), nil, found); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("one more: %v", err)
	}
	portstest.SaveConnection(t, env.DB.Connections(), connection("bank-0", 2))
}

func saveConnection(t *testing.T, db *postgres.DB, v ports.RailConnectionVersion, test *ports.RailTest,
	seen []ports.RailConnectionVersion) error {
	t.Helper()
	return ports.Do(t.Context(), db.Connections(), func(ctx context.Context, tx *postgres.ConnectionsTx) error {
		return tx.SaveRailConnection(ctx, v, test, seen)
	})
}

func TestRailConnections_ServiceOnlyAsProposed(t *testing.T) {
	t.Parallel()
	// With a login of the service only, a version, its test and a balance are stored as the owner has proposed them, and in no other way.
	c := newEnv(t)
	web := openService(t, c)
	propose := func(operation, request string) ident.Proposal {
		p := proposal.New(ident.NewProposal(generator.New, noon), ident.Platform{}, books.ActionConnection, operation, []byte(request),
			platform.Author{Actor: "ana"}, proposal.People{}, time.Now())
		if err := ports.Do(t.Context(), c.DB.Connections(), func(ctx context.Context, tx *postgres.ConnectionsTx) error {
			return tx.CreateProposal(ctx, p)
		}); err != nil {
			t.Fatal(err)
		}
		return p.ID
	}
	save := func(version int, of ident.Proposal, edit func(*ports.RailConnectionVersion)) error {
		v := connection("bank", version)
		v.Approval = platform.Approval{Proposal: of, By: platform.Author{Actor: "ben"}}
		edit(&v)
		seen, err := c.RailConnections(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return saveConnection(t, web, v, &ports.RailTest{Connection: v.Name, Version: v.Version, Passed: true, At: noon}, seen)
	}
	as := func(*ports.RailConnectionVersion) {}
	set := func(more string) ident.Proposal {
		return propose("rails set", `{"connection": "bank", "file": {"adapter": "BANK_FILE", "rails": ["SEPA"], "currencies": ["EUR"]}, `+
			more+`"note": "n", "afterVersion": 0}`)
	}
	first := set("")
	v := connection("bank", 1)
	wantCode(t, "no proposal", saveConnection(t, web, v, nil, nil), "42501")
	for name, edit := range map[string]func(*ports.RailConnectionVersion){
		"a rail more":   func(v *ports.RailConnectionVersion) { v.Rails = append(v.Rails, "SEPA_INSTANT") },
		"another name":  func(v *ports.RailConnectionVersion) { v.Name = "other" },
		"other setting": func(v *ports.RailConnectionVersion) { v.Settings = map[string]string{"iban": "DE1"} },
		"retired":       func(v *ports.RailConnectionVersion) { v.Retired = true },
		"a version on":  func(v *ports.RailConnectionVersion) { v.Version = 2 },
	} {
		if err := save(1, first, edit); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	wantCode(t, "tested, and not to be", save(1, set(`"untested": true, `), as), "42501")
	if err := save(1, first, as); err != nil {
		t.Errorf("as proposed: %v", err)
	}
	if _, err := pgtest.Connect(t, c.url).Exec(t.Context(), `UPDATE rail_proposals SET status = 'EXECUTED', decider = 'ben',
		decider_person_id = gen_random_uuid(), decided_at = now() WHERE id = $1`, first.UUID()); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "a later test", web.SaveRailTest(t.Context(), ports.RailTest{Connection: "bank", Version: 1, Passed: true, At: noon},
		[]ports.RailConnectionVersion{{Connection: v.Connection, Latest: 1}}, nil), "42501")

	balance := func(minor int64) error {
		of := propose("rails balance", `{"connection": "bank", "amount": 700, "currency": "EUR", "note": "n", "at": "`+
			noon.Format(time.RFC3339)+`", "afterVersion": 1}`)
		return ports.Do(t.Context(), web.Connections(), func(ctx context.Context, tx *postgres.ConnectionsTx) error {
			return tx.SaveOpeningBalance(ctx, ports.OpeningBalance{Connection: "bank", Amount: money.Amount{Minor: minor, Currency: "EUR"}, At: noon,
				Actor: "ana", Note: "n", Approval: platform.Approval{Proposal: of, By: platform.Author{Actor: "ben"}}})
		})
	}
	if err := balance(701); !fault.Is(err, fault.Conflict) {
		t.Errorf("another balance: %v", err)
	}
	if err := balance(700); err != nil {
		t.Errorf("the balance as proposed: %v", err)
	}
	retire := propose("rails retire", `{"connection": "bank", "note": "n", "afterVersion": 1}`)
	err := save(2, retire, func(v *ports.RailConnectionVersion) { v.Retired, v.Rails = true, append(v.Rails, "SEPA_INSTANT") })
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("retired with another rail: %v", err)
	}
}

func TestRailPauses_ServiceOnlyForAPerson(t *testing.T) {
	t.Parallel()
	// With a login of the service only, a person who may sign in stops and resumes a connection, which is recorded with what it has changed.
	// Nobody else does, and nobody stops a rail on all connections.
	c := newEnv(t)
	web := openService(t, c)
	portstest.SaveConnection(t, c.DB.Connections(), connection("bank-eur", 1))
	ana, gone := newPerson(t, "ana@example.com"), newPerson(t, "gone@example.com")
	ana.Status, gone.Status = person.Active, person.Disabled
	createPeople(t, c.DB, ana, gone)
	pause := func(name string, paused bool, by ident.Person) error {
		return web.SaveRailPause(ports.ForAllPlatforms(t.Context()),
			ports.RailPause{Name: name, Paused: paused, By: "ana", Person: by, Note: "incident", At: noon},
			platform.OperatorAction{ID: generator.New(noon), Kind: platform.OperatorPausedRail, Name: name, Actor: "ana", Person: by, At: noon,
				Changes: diff.Between(diff.Values{"isPaused": strconv.FormatBool(!paused)}, diff.Values{"isPaused": strconv.FormatBool(paused)})})
	}

	wantCode(t, "nobody", pause("bank-eur", true, ident.Person{}), "42501")
	wantCode(t, "one who is disabled", pause("bank-eur", true, gone.ID), "42501")
	wantCode(t, "a rail", pause("SEPA", true, ana.ID), "42501")
	for _, paused := range []bool{true, false} {
		if err := pause("bank-eur", paused, ana.ID); err != nil {
			t.Errorf("a person, %t: %v", paused, err)
		}
	}

	history, err := c.RailPauseHistory(t.Context(), "bank-eur")
	if err != nil || len(history) != 2 || !history[0].Paused || history[1].Paused {
		t.Errorf("history %+v, %v", history, err)
	}
	var recorded int
	if err := pgtest.Connect(t, c.url).QueryRow(t.Context(), `SELECT count(*) FROM operator_actions WHERE person_id = $1 AND changes IS NOT NULL`,
		ana.ID.UUID()).Scan(&recorded); err != nil || recorded != 2 {
		t.Errorf("%d are recorded, %v", recorded, err)
	}
}

func TestRailPauses_LatestOfEachName(t *testing.T) {
	t.Parallel()
	// The latest pause or resumption of each connection and rail is in force, and the history has all.
	env := newEnv(t)
	db := env.DB
	pauses := []ports.RailPause{{Name: "bank-eur", Paused: true, By: "ana", Note: "incident", At: noon},
		{Name: "SEPA", Paused: true, By: "ana", Note: "incident", At: noon}, {Name: "bank-eur", By: "ben", Note: "over", At: noon}}
	for _, p := range pauses {
		if err := db.SaveRailPause(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}

	latest, err := db.RailPauses(t.Context())
	history, errHistory := db.RailPauseHistory(t.Context(), "bank-eur")

	if err != nil || !reflect.DeepEqual(latest, []ports.RailPause{pauses[1], pauses[2]}) {
		t.Errorf("pauses %+v, %v", latest, err)
	}
	if errHistory != nil || !reflect.DeepEqual(history, []ports.RailPause{pauses[0], pauses[2]}) {
		t.Errorf("history %+v, %v", history, errHistory)
	}
}
