package verification

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
)

func newLink(t *testing.T) Link {
	t.Helper()
	l, err := NewLink(uuid.New(), platform.Platform{KYCRedirectOrigins: []string{"https://example.com"}}, business(),
		"https://example.com/done", SecretHash{1}, now)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLink_IsOpenedOnce(t *testing.T) {
	// A link is opened once within its 24 hours, which begins a session of limited time.
	t.Parallel()
	l := newLink(t)
	opened, err := l.Open(SecretHash{2}, l.ExpiresAt.Add(-time.Second))
	if err != nil || opened.CheckSession(opened.OpenedAt.Add(SessionLifetime-1)) != nil {
		t.Fatalf("in time: %+v, %v", opened, err)
	}
	for name, err := range map[string]error{
		"again": second(opened.Open(SecretHash{3}, now)), "late": second(l.Open(SecretHash{2}, l.ExpiresAt)),
		"the session later": opened.CheckSession(opened.OpenedAt.Add(SessionLifetime)), "a session before it was opened": l.CheckSession(now),
	} {
		if !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if l.ExpiresAt.Sub(l.CreatedAt) != 24*time.Hour {
		t.Errorf("it lasts %s", l.ExpiresAt.Sub(l.CreatedAt))
	}
}

func second(_ Link, err error) error { return err }

func TestNewLink_RedirectURIMustBeAllowed(t *testing.T) {
	// The address to return to must be one that the platform allows.
	t.Parallel()
	owner := platform.Platform{KYCRedirectOrigins: []string{"https://example.com"}}
	for uri, want := range map[string]fault.Code{"https://example.com/done": "", "https://example.org/done": fault.InvalidInput} {
		if _, err := NewLink(uuid.New(), owner, business(), uri, SecretHash{}, now); want == "" && err != nil || want != "" &&
			!fault.Is(err, want) {
			t.Errorf("%s: %v", uri, err)
		}
	}
}

func TestNewLink_DeletedCustomer(t *testing.T) {
	// A deleted customer gets no link; one with any other status does.
	t.Parallel()
	c := business()
	c.DeletedAt = now
	if _, err := NewLink(uuid.New(), platform.Platform{}, c, "", SecretHash{}, now); !fault.Is(err, fault.CustomerDeleted) {
		t.Errorf("deleted: %v", err)
	}
	for _, status := range []customer.Status{customer.Unverified, customer.Pending, customer.Approved, customer.Rejected} {
		c := business()
		c.Status = status
		if _, err := NewLink(uuid.New(), platform.Platform{}, c, "", SecretHash{}, now); err != nil {
			t.Errorf("%s: %v", status, err)
		}
	}
}

func TestSecret_RoundTrip(t *testing.T) {
	// A secret names its platform; whatever else is parsed is refused or has another hash.
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var random [32]byte
		copy(random[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "random"))
		p := ident.NewPlatform(newUUID, now)
		text, hash := NewSecret(p, random)
		if got, gotHash, ok := ParseSecret(text); !ok || got != p || gotHash != hash || len(text) != 64 {
			t.Fatalf("%s: %s %x %v", text, got, gotHash, ok)
		}
		i := rapid.IntRange(0, len(text)-1).Draw(t, "position")
		changed := text[:i] + rapid.StringMatching(`[A-Za-z0-9_=+/ -]`).Draw(t, "character") + text[i+1:]
		if _, gotHash, ok := ParseSecret(changed); ok && (gotHash == hash) != (changed == text) {
			t.Fatalf("%s is taken for %s", changed, text)
		}
	})
	for _, text := range []string{"", "x", strings.Repeat("A", 63), strings.Repeat("A", 65), strings.Repeat("A", 64) + "\n"} {
		if _, _, ok := ParseSecret(text); ok {
			t.Errorf("%q is accepted", text)
		}
	}
}
