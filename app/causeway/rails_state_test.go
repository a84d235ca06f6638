package main

import (
	"strings"
	"testing"

	"causeway/app/rails"
	"causeway/core/corridor"
	"causeway/core/rail"
	"causeway/ports"
)

func TestRailsList_SaysHowMuchIsPaused(t *testing.T) {
	t.Parallel()
	// A connection hands nothing over if it is paused, or each of its rails is; with some of them it is partly paused.
	for paused, want := range map[string]string{"": " open ", "SEPA": " partly paused ", "SEPA WIRE": " paused ", "bank-eur": " paused "} {
		l := rails.Listed{RailConnectionVersion: ports.RailConnectionVersion{Connection: rail.Connection{Name: "bank-eur", Rails: []corridor.Rail{corridor.SEPA, corridor.Wire}}}}
		for name := range strings.FieldsSeq(paused) {
			l.PausedBy = append(l.PausedBy, ports.RailPause{Name: name, Paused: true})
		}
		var out strings.Builder
		if err := writeConnections(&out, []rails.Listed{l}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("paused %q: %q is not in\n%s", paused, want, out.String())
		}
	}
}
