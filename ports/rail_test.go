package ports_test

import (
	"testing"
	"time"

	"causeway/core/transaction"
	"causeway/ports"
)

// fullReply has a value in each field.
func fullReply() ports.RailReply {
	at := time.Date(2026, 3, 14, 12, 0, 0, 123_456_789, time.UTC)
	r := ports.RailReply{Subject: [16]byte{1}, Call: ports.CallSend, At: at, Outcome: ports.Outcome{Verdict: ports.Returned,
		Reason:    transaction.CounterpartyPostFailed,
		PartnerID: "0199f0a2", Code: "AC04", Text: "account closed", ReturnedAt: at.Add(1), ExpectedAt: at.Add(time.Hour), Accepted: true,
		RetryAt: at.Add(time.Minute)}}
	r.Platform.SetUUID([16]byte{2})
	return r
}

func TestRailReply_DigestCoversEveryField(t *testing.T) {
	t.Parallel()
	// The digest is that of what is stored, in microseconds and any time zone, and no field can be changed without it.
	stored := fullReply()
	for _, at := range []*time.Time{&stored.At, &stored.ReturnedAt, &stored.ExpectedAt, &stored.RetryAt} {
		*at = at.Truncate(time.Microsecond).In(time.FixedZone("", 3600))
	}
	if got, want := stored.Digest(), fullReply().Digest(); got != want {
		t.Errorf("as it is stored: %s, want %s", got, want)
	}
	digests := map[string]string{fullReply().Digest(): "none"}
	for name, change := range map[string]func(*ports.RailReply){
		"platform":        func(r *ports.RailReply) { r.Platform.SetUUID([16]byte{3}) },
		"subject":         func(r *ports.RailReply) { r.Subject[0]++ },
		"time":            func(r *ports.RailReply) { r.At = r.At.Add(time.Microsecond) },
		"call":            func(r *ports.RailReply) { r.Call = ports.CallStatus },
		"verdict":         func(r *ports.RailReply) { r.Verdict = ports.Refused },
		"reason":          func(r *ports.RailReply) { r.Reason = "" },
		"accepted":        func(r *ports.RailReply) { r.Accepted = false },
		"id":              func(r *ports.RailReply) { r.PartnerID = "0199f0a3" },
		"code":            func(r *ports.RailReply) { r.Code = "AC05" },
		"text":            func(r *ports.RailReply) { r.Text = "account open" },
		"code and text":   func(r *ports.RailReply) { r.Code, r.Text = "AC04a", "ccount closed" },
		"time of return":  func(r *ports.RailReply) { r.ReturnedAt = r.ReturnedAt.Add(time.Microsecond) },
		"no return":       func(r *ports.RailReply) { r.ReturnedAt = time.Time{} },
		"expected":        func(r *ports.RailReply) { r.ExpectedAt = time.Unix(0, 0) },
		"never expected":  func(r *ports.RailReply) { r.ExpectedAt = time.Time{} },
		"time of retry":   func(r *ports.RailReply) { r.RetryAt = r.RetryAt.Add(time.Microsecond) },
		"retry as return": func(r *ports.RailReply) { r.ReturnedAt, r.RetryAt = r.RetryAt, r.ReturnedAt },
	} {
		r := fullReply()
		change(&r)
		if other, same := digests[r.Digest()]; same {
			t.Errorf("with another %s the digest is that of the change of %s", name, other)
		}
		digests[r.Digest()] = name
	}
}

func BenchmarkRailReply_Digest(b *testing.B) {
	r := fullReply()
	for b.Loop() {
		_ = r.Digest()
	}
}
