package person_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/fault"
	"causeway/core/person"
)

func TestLink_OpensOnceInItsTime(t *testing.T) {
	t.Parallel()
	// A link can be opened until it expires, and once.
	p := active(t, forEverything...)
	link, err := person.NewLink(p, person.SecretHash{1}, false, noon)
	if err != nil || !link.ExpiresAt.Equal(noon.Add(24*time.Hour)) || link.Person != p.ID {
		t.Fatalf("%+v, %v", link, err)
	}
	rapid.Check(t, func(t *rapid.T) {
		l, opened := link, 0
		for _, at := range rapid.SliceOfN(rapid.IntRange(0, 30*60), 1, 5).Draw(t, "minutes") {
			now := noon.Add(time.Duration(at) * time.Minute)
			next, err := l.Open(now)
			if may := opened == 0 && now.Before(link.ExpiresAt); (err == nil) != may || err != nil && !fault.Is(err, fault.Conflict) {
				t.Fatalf("opened after %d minutes and %d times: %v", at, opened, err)
			}
			if err == nil {
				l, opened = next, opened+1
			}
		}
	})
	if _, err := link.Open(link.ExpiresAt.Add(-time.Nanosecond)); err != nil {
		t.Error(err)
	}
	if _, err := link.Open(link.ExpiresAt); !fault.Is(err, fault.Conflict) {
		t.Errorf("opened when it expired: %v", err)
	}
}

func TestSession_OfLink(t *testing.T) {
	t.Parallel()
	// The session of a link lives an hour, for the choice of a password; that of one that signs in is like any other.
	p := active(t, forEverything...)
	for signsIn, lives := range map[bool]time.Duration{false: time.Hour, true: 7 * 24 * time.Hour} {
		link, err := person.NewLink(p, person.SecretHash{1}, signsIn, noon)
		if err != nil {
			t.Fatal(err)
		}
		s := person.NewSessionOfLink(person.SecretHash{2}, link, noon)
		if s.Setup == signsIn || !s.ExpiresAt.Equal(noon.Add(lives)) || s.Person != p.ID || s.TokenHash != (person.SecretHash{2}) {
			t.Errorf("a link that signs in: %t: %+v", signsIn, s)
		}
	}
}

func TestSession_Ends(t *testing.T) {
	t.Parallel()
	// However often it is used, a session ends after a week; and after half a day without use, of which a minute may be missing,
	// because its last use is stored once a minute. What was stored never exceeds the present.
	rapid.Check(t, func(t *rapid.T) {
		s, now, last := person.NewSession(person.SecretHash{1}, anaID, noon), noon, noon
		for range rapid.IntRange(1, 60).Draw(t, "requests") {
			step := rapid.OneOf(rapid.Int64Range(0, int64(3*time.Minute)), rapid.Int64Range(0, int64(13*time.Hour))).Draw(t, "pause")
			now = now.Add(time.Duration(step))
			used, store, err := s.Use(now)
			idle := now.Sub(last)
			switch {
			case !now.Before(noon.Add(person.SessionLifetime)), idle >= person.IdleLifetime:
				if !fault.Is(err, fault.Unauthorized) {
					t.Fatalf("used after %s, idle for %s: %v", now.Sub(noon), idle, err)
				}
				return
			case err != nil && idle < person.IdleLifetime-time.Minute:
				t.Fatalf("ended after %s, idle for %s: %v", now.Sub(noon), idle, err)
			case err != nil:
				return
			}
			if used.LastUsedAt.After(now) || now.Sub(used.LastUsedAt) >= time.Minute || store != !used.LastUsedAt.Equal(s.LastUsedAt) {
				t.Fatalf("last used at %s, stored %t, at %s", used.LastUsedAt, store, now)
			}
			if !used.ExpiresAt.Equal(s.ExpiresAt) {
				t.Fatal("a use has prolonged the session")
			}
			s, last = used, now
		}
	})
	s := person.NewSession(person.SecretHash{1}, anaID, noon)
	if _, _, err := s.Use(noon.Add(person.IdleLifetime)); !fault.Is(err, fault.Unauthorized) {
		t.Error(err)
	}
}

func TestSecret_ParsesItsOwnTexts(t *testing.T) {
	t.Parallel()
	// Every secret has one text, whose hash is stored. Other texts, also those that decode to the same bytes, are none.
	rapid.Check(t, func(t *rapid.T) {
		random := [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "random"))
		text, hash := person.NewSecret(random)
		if got, ok := person.ParseSecret(text); !ok || got != hash {
			t.Fatalf("%q is not parsed", text)
		}
		last := text[len(text)-1:]
		others := []string{"", text[1:], text + "A", text + "=", text + "\n", text[:20] + "\n" + text[20:], " " + text, "!" + text[1:]}
		// Four characters have the same first four bits, of which the rest is cut off.
		for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
			if string(c) != last {
				others = append(others, text[:len(text)-1]+string(c))
			}
		}
		for _, other := range others {
			if got, ok := person.ParseSecret(other); ok && got == hash {
				t.Fatalf("%q opens what %q does", other, text)
			}
		}
		if strings.ContainsAny(text, "+/=") {
			t.Fatalf("%q has to be escaped in a URL", text)
		}
	})
}
