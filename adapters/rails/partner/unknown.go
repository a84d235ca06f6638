package partner

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/rail"
	"causeway/ports"
)

// unknownPayments returns what stored events say of payments that no record has, and that the partner has made or will: the database
// has lost commits, or the partner took a payment from somebody else.
func (r *Rail) unknownPayments(ctx context.Context, stored []ports.PartnerEvent) ([]rail.Contradiction, error) {
	var said []Event // of keys
	var keys []ports.RailPaymentKey
	for _, s := range stored {
		var e Event
		if isReuse(s) || decode(s.Body, &e) != nil || e.Payment == nil || e.Payment.Status == Rejected || e.Payment.Status == Returned {
			continue
		}
		p, errPlatform := ident.ParsePlatform(e.Payment.PlatformID)
		id, errID := uuid.Parse(e.Payment.ID)
		if errPlatform != nil || errID != nil { // it is kept aside
			continue
		}
		key := ports.RailPaymentKey{Platform: p, ID: id, Kind: rail.Kind(e.Payment.Kind)}
		said, keys = append(said, e), append(keys, key)
	}
	if len(keys) == 0 {
		return nil, nil
	}
	unknown, err := r.Departures.UnknownRailPayments(ports.ForAllPlatforms(ctx), keys)
	if err != nil {
		return nil, err
	}
	var contradictions []rail.Contradiction
	for i, key := range keys {
		if e := said[i]; slices.Contains(unknown, key) {
			name := rail.EndToEndID(key.ID)
			contradictions = append(contradictions, rail.Contradiction{Platform: key.Platform, Kind: key.Kind, Subject: key.ID, Name: name,
				Recorded: rail.Said{State: "NOTHING"}, Reported: rail.Said{State: string(e.Payment.Status), At: e.At},
				Problem: fmt.Sprintf("the partner has the %s %s, and the service has no record of it. If commits were lost, ask the partner "+
					"for its amount and its other side, and post what has moved", key.Kind.Word(), name)})
		}
	}
	return contradictions, nil
}
