package bankfile_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/core/corridor"
	"causeway/core/platform"
	"causeway/ports"
)

// pollAll polls until there is no more.
func pollAll(t testing.TB, feed ports.RailFeed, cursor string) string {
	t.Helper()
	for range 100 {
		report, err := feed.Poll(t.Context(), cursor)
		if err := errors.Join(err, report.Problem); err != nil {
			t.Fatal(err)
		}
		if cursor = report.Cursor; !report.More {
			return cursor
		}
	}
	t.Fatal("there is always more")
	return ""
}

func TestAdapter_CutsFilesByTime(t *testing.T) {
	t.Parallel()
	// Orders wait for as long as the settings say, or until a time of day by the clock of the bank, also over midnight.
	d := openDatabase(t)
	for name, c := range map[string]struct {
		settings  []string
		at, until string // queued, and delivered
	}{
		"by default":        {nil, "2026-03-10T12:00:00Z", "2026-03-10T12:01:00Z"},
		"every hour":        {[]string{"cutEvery", "1h"}, "2026-03-10T12:00:00Z", "2026-03-10T13:00:00Z"},
		"before a time":     {[]string{"cutAt", "15:30, 10:00"}, "2026-03-10T09:00:00+01:00", "2026-03-10T10:00:00+01:00"},
		"between times":     {[]string{"cutAt", "15:30, 10:00"}, "2026-03-10T10:00:01+01:00", "2026-03-10T15:30:00+01:00"},
		"after the last":    {[]string{"cutAt", "15:30, 10:00"}, "2026-03-10T16:00:00+01:00", "2026-03-11T10:00:00+01:00"},
		"over summer time":  {[]string{"cutAt", "10:00"}, "2026-03-28T10:30:00+01:00", "2026-03-29T10:00:00+02:00"},
		"in another zone":   {[]string{"cutAt", "10:00", "zone", "America/New_York"}, "2026-03-10T12:00:00Z", "2026-03-10T14:00:00Z"},
		"full before it is": {[]string{"cutEvery", "24h", "maxPayments", "1"}, "2026-03-10T12:00:00Z", "2026-03-10T12:00:00Z"},
	} {
		b := newBank(t)
		connection := europe("cut-"+strings.ReplaceAll(name, " ", "-"), b.dir)
		for i := 0; i < len(c.settings); i += 2 {
			connection.Settings[c.settings[i]] = c.settings[i+1]
		}
		a := d.open(t, connection, d.Store, nil)
		at, until := instant(t, c.at), instant(t, c.until)
		d.setClock(at)
		if outcomes := a.Send(t.Context(), []ports.Payout{d.payout(name, 1, corridor.SEPA)}); !waiting(outcomes) {
			t.Fatalf("%s: %+v", name, outcomes)
		}

		if before := until.Add(-time.Second); !before.Before(at) {
			d.setClock(before)
			pollAll(t, a, "")
			if err := b.take(); err != nil || len(b.taken) > 0 {
				t.Errorf("%s: %d files are delivered before the time, %v", name, len(b.taken), err)
			}
		}
		d.setClock(until)
		pollAll(t, a, "")

		if err := b.take(); err != nil || len(b.taken) != 1 {
			t.Errorf("%s: %d files are delivered, %v", name, len(b.taken), err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

func instant(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.UTC()
}

func TestAdapter_NamesFiles(t *testing.T) {
	t.Parallel()
	// The name of a file is as the bank wants it.
	d, b := openDatabase(t), newBank(t)
	connection := europe("named", b.dir)
	connection.Settings["fileName"] = "PAIN001_{date}_{number}_{rail}_{currency}.{extension}"
	connection.Settings["maxPayments"] = "2"
	a := d.open(t, connection, d.Store, nil)
	var payouts []ports.Payout
	for n := range 3 {
		payouts = append(payouts, d.payout("named", n, corridor.SEPA))
	}
	a.Send(t.Context(), payouts)
	d.clock.Advance(time.Hour)
	pollAll(t, a, "")

	if err := b.take(); err != nil {
		t.Fatal(err)
	}

	var names []string
	for name := range b.taken {
		names = append(names, name)
	}
	slices.Sort(names)
	if want := []string{"PAIN001_20260310_000001_SEPA_EUR.xml", "PAIN001_20260310_000002_SEPA_EUR.xml"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}

func TestAdapter_OrdersThatWaitStopNoOthers(t *testing.T) {
	t.Parallel()
	// Orders of a rail that the connection no longer carries, and ACH orders beyond the last file of a day, wait: the operator
	// sees what to do, and all others are delivered.
	d, b := openDatabase(t), newBank(t)
	both := europe("fewer", b.dir)
	both.Rails = append(both.Rails, corridor.SEPAInstant)
	before := d.open(t, both, d.Store, nil)
	before.Send(t.Context(), []ports.Payout{d.payout("instant", 1, corridor.SEPAInstant)})
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	d.clock.Advance(time.Second)
	a := d.queued(t, b, "fewer", nil)
	pollFails(t, a, "1 orders of SEPA_INSTANT in EUR wait, which the connection no longer carries")
	b.only(t, "fewer")

	connection := america("days", b.dir)
	connection.Settings["maxPayments"] = "1"
	daily := d.open(t, connection, d.Store, nil)
	var payouts []ports.Payout
	for n := range 38 {
		payouts = append(payouts, d.payout("days", n, corridor.ACH))
	}
	daily.Send(t.Context(), payouts)
	pollFails(t, daily, "2 orders of ACH wait for tomorrow")
	if err := b.take(); err != nil || len(b.taken) != 1+36 {
		t.Errorf("%d files on the first day, %v", len(b.taken), err)
	}
	d.clock.Advance(24 * time.Hour)
	pollAll(t, daily, "")
	if err := b.take(); err != nil || len(b.taken) != 1+38 {
		t.Errorf("%d files on the second day, %v", len(b.taken), err)
	}
}

func TestAdapter_NamesFilesAfterALoss(t *testing.T) {
	t.Parallel()
	// A database that has lost commits may have lost files. The next file has neither the name nor the message id that one of them had.
	d, b := openDatabase(t), newBank(t)
	a := d.open(t, europe("lossy", b.dir), d.Store, nil)
	defer a.Close()
	messages := map[string]string{}
	for n := range 2 {
		a.Send(t.Context(), []ports.Payout{d.payout("lossy", n, corridor.SEPA)})
		d.clock.Advance(time.Hour)
		pollAll(t, a, "")
		if err := b.take(); err != nil {
			t.Fatal(err)
		}
		for name, contents := range b.taken {
			_, after, _ := strings.Cut(contents[0], "<MsgId>")
			messages[name], _, _ = strings.Cut(after, "</MsgId>")
		}
		lost := []ports.LostCommit{{Platform: d.platform, Kind: ports.LostCheckpoint, Reference: "a"}}
		if _, err := d.db.SaveLostCommits(ports.ForAllPlatforms(t.Context()), lost); err != nil {
			t.Fatal(err)
		}
		if err := d.db.SaveLostCommitReview(t.Context(), 1, platform.Author{Actor: "ana"}, "compared", d.clock.Now()); err != nil && n == 0 {
			t.Fatal(err)
		}
	}

	for name, message := range messages {
		want := regexp.MustCompile(`-1$`)
		if regexp.MustCompile(`000002-[0-9a-z]{2}\.`).MatchString(name) {
			want = regexp.MustCompile(`-2-[0-9a-z]{2}$`)
		}
		if !want.MatchString(message) || len(message) > 35 {
			t.Errorf("%s has the message id %s", name, message)
		}
	}
	if len(messages) != 2 {
		t.Errorf("%v", messages)
	}
}
