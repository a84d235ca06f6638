package cli

import (
	"strings"
	"testing"

	"causeway/adapters/cli/table"
	"causeway/app/rails"
	"causeway/core/corridor"
	"causeway/core/rail"
	"causeway/ports"
)

func TestRailsList_SaysHowMuchIsPaused(t *testing.T) {
	t.Parallel()
	// A connection hands nothing over if it is paused, or each of its rails is; with some of them it is partly paused.
	for paused, want := range map[string]string{"": " open ", "SEPA": " partly paused ", "SEPA WIRE": " paused ", "bank-eur": " paused "} {
		l := rails.Listed{RailConnectionVersion: ports.RailConnectionVersion{Connection: rail.Connection{Name: "bank-eur",
			Rails: []corridor.Rail{corridor.SEPA, corridor.Wire}}}}
		for name := range strings.FieldsSeq(paused) {
			l.PausedBy = append(l.PausedBy, ports.RailPause{Name: name, Paused: true})
		}
		var out strings.Builder
		if err := connectionsTable([]rails.Listed{l}).Write(&out, table.Text); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("paused %q: %q is not in\n%s", paused, want, out.String())
		}
	}
}

func TestRailsList_SaysWhatWasNotTestedOrIsRetired(t *testing.T) {
	t.Parallel()
	// What takes no payments is shown as such, paused or not, with what to do about it.
	for _, tt := range []struct {
		v           ports.RailConnectionVersion
		state, text string
	}{
		{ports.RailConnectionVersion{Latest: 1, Connection: rail.Connection{Name: "bank", Version: 1}}, " open ", ""},
		{ports.RailConnectionVersion{Latest: 1, Connection: rail.Connection{Name: "bank", Version: 1, Untested: true}}, " not tested ",
			"bank was not tested, and no payment takes it until this passes: causeway rails test bank"},
		{ports.RailConnectionVersion{Latest: 3, Connection: rail.Connection{Name: "bank", Version: 2}}, " open ",
			"Version 3 of bank was not tested, and version 2 is in use until this passes: causeway rails test bank"},
		{ports.RailConnectionVersion{Latest: 2, Connection: rail.Connection{Name: "bank", Version: 2, Untested: true, Retired: true}},
			" retired ", ""},
	} {
		tt.v.Rails = []corridor.Rail{corridor.SEPA}
		var out strings.Builder
		if err := connectionsTable([]rails.Listed{{RailConnectionVersion: tt.v}}).Write(&out, table.Text); err != nil {
			t.Fatal(err)
		}
		if got := untestedText(tt.v); !strings.Contains(out.String(), tt.state) || got != tt.text {
			t.Errorf("%+v: %s%q, want %q and %q", tt.v, out.String(), got, tt.state, tt.text)
		}
	}
}
