package postgres_test

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/settlement"
	"causeway/ports"
)

func TestRailConnections_LatestVersionAndHistory(t *testing.T) {
	t.Parallel()
	// Every version of a connection stays; the latest is in force. A version that another command has stored meanwhile is refused.
	env := newEnv(t)
	db := env.DB
	days := 0
	first := ports.RailConnectionVersion{By: "ana", Note: "new bank", Connection: rail.Connection{Name: "bank-eur", Adapter: rail.BankFile, Version: 1,
		Rails: []corridor.Rail{corridor.SEPA}, Currencies: []money.Currency{"EUR"}, Countries: []string{"DE"}, Platforms: []ident.Platform{env.platform.ID}, Unmatched: env.platform.ID,
		Priority: 3, Limits: []rail.Limit{{Rail: corridor.SEPA, Currency: "EUR", PerPayout: 1, PerHour: 2, PerDay: 3}}, Settings: map[string]string{"password": "env:P"}, SetAt: noon}}
	first.Schedules = []rail.Schedule{{Rail: corridor.SEPA, Zone: "Europe/Paris", Calendar: settlement.TARGET, Opens: "08:00", CutOff: "24:00", SettlesAt: "18:30", Days: &days,
		Holidays: []string{"2026-12-24"}, WorkingDays: []string{"2026-05-01"}, Hold: true}, {Rail: corridor.SEPAInstant, Takes: 90 * time.Second}}
	second := first
	second.Version, second.By, second.Note, second.Countries = 2, "ben", "every country", nil
	second.Schedules = nil
	other := ports.RailConnectionVersion{By: "ana", Note: "wallet", Connection: rail.Connection{Name: "base", Adapter: rail.EVM, Version: 1, Rails: []corridor.Rail{corridor.Base}, Currencies: []money.Currency{"USDC"}, SetAt: noon}}
	for _, v := range []ports.RailConnectionVersion{first, second, other} {
		if err := db.SaveRailConnection(t.Context(), v); err != nil {
			t.Fatal(err)
		}
	}

	again := db.SaveRailConnection(t.Context(), second)
	latest, err := db.RailConnections(t.Context())
	history, errHistory := db.RailConnectionHistory(t.Context(), "bank-eur")

	if !errors.Is(again, ports.ErrRailConnectionChanged) || err != nil || errHistory != nil {
		t.Fatalf("%v, %v, %v", again, err, errHistory)
	}
	if want := []ports.RailConnectionVersion{second, other}; !reflect.DeepEqual(latest, want) {
		t.Errorf("connections %+v\nwant %+v", latest, want)
	}
	if want := []ports.RailConnectionVersion{first, second}; !reflect.DeepEqual(history, want) {
		t.Errorf("history %+v\nwant %+v", history, want)
	}
}

func TestRailConnections_NeverMoreThanTheMaximum(t *testing.T) {
	t.Parallel()
	// Commands that add connections at the same time do not add more than every process reads. One that exists can be changed.
	env := newEnv(t)
	save := func(n, version int) error {
		return env.SaveRailConnection(t.Context(), ports.RailConnectionVersion{By: "ana", Note: "new bank", Connection: rail.Connection{Name: fmt.Sprintf("bank-%d", n), Adapter: rail.BankFile,
			Version: version, Rails: []corridor.Rail{corridor.SEPA}, Currencies: []money.Currency{"EUR"}, SetAt: noon}})
	}
	for n := range rail.MaxConnections - 1 {
		if err := save(n, 1); err != nil {
			t.Fatal(err)
		}
	}
	var running sync.WaitGroup
	results := make(chan error, 4)
	for n := range cap(results) {
		running.Go(func() { results <- save(rail.MaxConnections+n, 1) })
	}
	running.Wait()
	close(results)
	refused := 0
	for err := range results {
		if fault.Is(err, fault.InvalidInput) {
			refused++
		} else if err != nil {
			t.Error(err)
		}
	}

	found, err := env.RailConnections(t.Context())
	if len(found) != rail.MaxConnections || refused != 3 || err != nil {
		t.Errorf("%d connections, %d refused, %v", len(found), refused, err)
	}
	if err := save(0, 2); err != nil {
		t.Errorf("a connection that exists: %v", err)
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
