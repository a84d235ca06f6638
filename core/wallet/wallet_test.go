package wallet

import (
	"encoding/binary"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/fault"
	"causeway/core/ident"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

var lastID atomic.Uint32

// ids returns UUIDv7 with a counter in place of random bits.
func ids(at time.Time) (id uuid.UUID) {
	binary.BigEndian.PutUint64(id[:], uint64(at.UnixMilli())<<16)
	id[6], id[8] = 0x70, 0x80
	binary.BigEndian.PutUint32(id[12:], lastID.Add(1))
	return id
}

// newWallet returns an account with the credentials of some types.
func newWallet(types ...CredentialType) Wallet {
	w := Wallet{Platform: ident.NewPlatform(ids, noon), Account: ident.NewInternalAccount(ids, noon)}
	for i, t := range types {
		w.Credentials = append(w.Credentials, w.newCredential(t, fmt.Sprint("subject-", i), noon))
	}
	return w
}

func (w Wallet) newCredential(t CredentialType, subject string, at time.Time) Credential {
	c := Credential{ID: ident.NewAuthMethod(ids, at), Platform: w.Platform, Account: w.Account, Type: t, CreatedAt: at, UpdatedAt: at}
	switch t {
	case EmailOTP:
		c.SentTo = "ana@example.com"
	case SMSOTP:
		c.SentTo = "+447700900123"
	case Passkey:
		c.Passkey = &PasskeyKey{CredentialID: []byte(subject)}
	case OAuth:
		c.Identity = &Identity{Issuer: "https://accounts.google.com", Subject: subject}
	}
	return c
}

func (w Wallet) newSession(c Credential, at time.Time) Session {
	return Session{ID: ident.NewSession(ids, at), Platform: w.Platform, Account: w.Account, Credential: c.ID, Type: c.Type, CreatedAt: at,
		UpdatedAt: at, ExpiresAt: at.Add(SessionLifetime)}
}

func TestWallet_AddRefusesSecondOfAKind(t *testing.T) {
	t.Parallel()
	// A wallet has at most one e-mail address, one passkey, each identity once, and twenty credentials.
	many := newWallet(slices.Repeat([]CredentialType{OAuth}, MaxCredentials)...)
	for name, c := range map[string]struct {
		wallet  Wallet
		added   CredentialType
		subject string
		want    fault.Code
		field   string
	}{
		"first e-mail":       {newWallet(), EmailOTP, "", "", ""},
		"second e-mail":      {newWallet(EmailOTP), EmailOTP, "", fault.EmailOTPCredentialAlreadyExists, ""},
		"first phone":        {newWallet(EmailOTP), SMSOTP, "", "", ""},
		"second phone":       {newWallet(SMSOTP), SMSOTP, "", fault.SMSOTPCredentialAlreadyExists, ""},
		"first passkey":      {newWallet(EmailOTP), Passkey, "a", "", ""},
		"second passkey":     {newWallet(EmailOTP, Passkey), Passkey, "b", fault.PasskeyCredentialAlreadyExists, ""},
		"first identity":     {newWallet(EmailOTP, Passkey), OAuth, "a", "", ""},
		"another identity":   {newWallet(OAuth), OAuth, "subject-1", "", ""},
		"the same identity":  {newWallet(OAuth), OAuth, "subject-0", fault.InvalidInput, "oidcToken"},
		"twenty-first":       {many, OAuth, "another", fault.InvalidInput, "accountId"},
		"twenty-first email": {many, EmailOTP, "", fault.InvalidInput, "accountId"},
	} {
		change, err := c.wallet.Add(c.wallet.newCredential(c.added, c.subject, noon))
		f, _ := fault.As(err)
		switch {
		case c.want == "" && (err != nil || len(change.Credentials) != 1 || len(change.Sessions) != 0):
			t.Errorf("%s: %+v, %v", name, change, err)
		case c.want != "" && (f == nil || f.Code != c.want || c.field != "" && (len(f.Fields) != 1 || f.Fields[0].Field != c.field)):
			t.Errorf("%s: %v, want %s %s", name, err, c.want, c.field)
		}
	}
}

func TestWallet_RevokeEndsSessionsAndKeepsLast(t *testing.T) {
	t.Parallel()
	// With a credential its sessions end and no others. The last credential, and one that the wallet does not
	// have, cannot be revoked.
	w := newWallet(EmailOTP, OAuth)
	mine, other, also := w.newSession(w.Credentials[0], noon), w.newSession(w.Credentials[1], noon), w.newSession(w.Credentials[0], noon)
	w.Sessions = []Session{mine, other, also}
	later := noon.Add(time.Minute)

	change, err := w.Revoke(w.Credentials[0].ID, later)
	if err != nil {
		t.Fatal(err)
	}
	if len(change.Credentials) != 1 || !change.Credentials[0].RevokedAt.Equal(later) || len(change.Sessions) != 2 ||
		change.Sessions[0].Active(later) || change.Sessions[1].Active(later) {
		t.Errorf("change %+v", change)
	}
	after := w.After(change, later)
	if len(after.Credentials) != 1 || len(after.Sessions) != 1 || after.Sessions[0].ID != other.ID {
		t.Errorf("after %+v", after)
	}
	if _, err := after.Revoke(w.Credentials[0].ID, later); !fault.Is(err, fault.CredentialNotFound) {
		t.Errorf("again: %v", err)
	}
	if _, err := after.Revoke(w.Credentials[1].ID, later); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("the last one: %v", err)
	}
}

func TestWallet_SignersLeaveOutRevokedCredential(t *testing.T) {
	t.Parallel()
	// Every session may sign, unless it belongs to the credential that is revoked, or only one may.
	w := newWallet(EmailOTP, OAuth)
	first, second := w.newSession(w.Credentials[0], noon), w.newSession(w.Credentials[1], noon)
	w.Sessions = []Session{first, second}
	idsOf := func(sessions []Session) (text string) {
		for _, s := range sessions {
			text += map[ident.Session]string{first.ID: "first ", second.ID: "second "}[s.ID]
		}
		return text
	}
	for name, c := range map[string]struct {
		revoked           ident.AuthMethod
		only              ident.Session
		suitable, refused string
	}{
		"any":                      {suitable: "first second "},
		"a credential is revoked":  {revoked: w.Credentials[0].ID, suitable: "second ", refused: "first "},
		"one session":              {only: second.ID, suitable: "second "},
		"a session that has ended": {only: ident.NewSession(ids, noon)},
	} {
		suitable, refused := w.Signers(c.revoked, c.only)
		if idsOf(suitable) != c.suitable || idsOf(refused) != c.refused {
			t.Errorf("%s: %q and %q", name, idsOf(suitable), idsOf(refused))
		}
	}
}

func TestWallet_OpenSessionEndsOldest(t *testing.T) {
	t.Parallel()
	// A wallet has at most twenty active sessions: one more ends the oldest. The first session of a credential
	// verifies it, and no later one changes that; a passkey is stored each time, for its counter.
	w := newWallet(EmailOTP, Passkey)
	for i := range MaxSessions + 3 {
		now := noon.Add(time.Duration(i) * time.Second)
		opened := w.newSession(w.Credentials[0], now)
		change, err := w.OpenSession(opened, w.Credentials[0], now)
		if err != nil || (len(change.Credentials) == 1) != (i == 0) {
			t.Fatalf("session %d: %+v, %v", i, change, err)
		}
		w = w.After(change, now)
		if len(w.Sessions) != min(i+1, MaxSessions) || w.Sessions[len(w.Sessions)-1].ID != opened.ID || !w.Credentials[0].VerifiedAt.Equal(noon) {
			t.Fatalf("after session %d: %d sessions, verified at %s", i, len(w.Sessions), w.Credentials[0].VerifiedAt)
		}
	}
	for i := range 2 {
		passkey := w.Credentials[1]
		passkey.Passkey = &PasskeyKey{SignCount: uint32(i + 1)}
		change, err := w.OpenSession(w.newSession(passkey, noon), passkey, noon)
		if err != nil || len(change.Credentials) != 1 || change.Credentials[0].Passkey.SignCount != uint32(i+1) {
			t.Errorf("passkey: %+v, %v", change, err)
		}
		w = w.After(change, noon)
	}
	unknown := newWallet(EmailOTP).Credentials[0]
	if _, err := w.OpenSession(w.newSession(unknown, noon), unknown, noon); !fault.Is(err, fault.CredentialNotFound) {
		t.Errorf("a credential that was revoked: %v", err)
	}
}

func TestWithDefault_OnlyWithoutStoredCredentials(t *testing.T) {
	t.Parallel()
	// The default credential exists for customers with an e-mail address while none is stored. Its id leads
	// back to the account, and sorts at the time of the account.
	if w := newWallet().WithDefault("", noon); w.Implicit || len(w.Credentials) != 0 {
		t.Errorf("without an address: %+v", w)
	}
	if w := newWallet(Passkey).WithDefault("ana@example.com", noon); w.Implicit || len(w.Credentials) != 1 ||
		w.Credentials[0].Type != Passkey {
		t.Errorf("with a passkey: %+v", w)
	}
	w := newWallet().WithDefault("ana@example.com", noon)
	if !w.Implicit || len(w.Credentials) != 1 || w.Credentials[0].Type != EmailOTP || w.Credentials[0].Nickname != "ana@example.com" ||
		w.Verified() {
		t.Fatalf("default: %+v", w)
	}
	id := w.Credentials[0].ID
	if AccountOfDefault(id) != w.Account || id.UUID() == w.Account.UUID() || id.UUID().Version() != 7 || id.UUID().Variant() != uuid.RFC4122 ||
		[6]byte(id.UUID().NodeID()) == [6]byte(w.Account.UUID().NodeID()) {
		t.Errorf("the id %s of the account %s", id, w.Account)
	}

	// Adding a credential stores the default one too; changing the default one stores it alone.
	change, err := w.Add(w.newCredential(Passkey, "a", noon))
	if err != nil || len(change.Credentials) != 2 || change.Credentials[0].ID != id {
		t.Errorf("adding a passkey: %+v, %v", change, err)
	}
	if change := w.Update(w.Credentials[0]); len(change.Credentials) != 1 || w.After(change, noon).Implicit {
		t.Errorf("changing it: %+v", change)
	}
}

func TestDefaultCredentialID_LeadsBack(t *testing.T) {
	t.Parallel()
	// The ids of two accounts have different default credentials, and each leads back to its account.
	rapid.Check(t, func(t *rapid.T) {
		var account ident.InternalAccount
		account.SetUUID(uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id")))
		id := DefaultCredentialID(account)
		if AccountOfDefault(id) != account || id.UUID() == account.UUID() {
			t.Fatalf("%s of %s", id, account)
		}
	})
}

func TestCheckNickname(t *testing.T) {
	t.Parallel()
	// Letters and digits of every script, spaces and . _ - ' ( ) are accepted, 1 to 100 of them.
	for nickname, accepted := range map[string]bool{
		"a": true, "Ana's phone (work) no. 2_b-c": true, "Телефон 1": true, strings.Repeat("é", 100): true,
		"": false, strings.Repeat("a", 101): false, "a\n": false, "a\tb": false, "<b>": false, "a/b": false, "😀": false, "a\x00": false,
	} {
		if err := CheckNickname(nickname); (err == nil) != accepted {
			t.Errorf("%q: %v", nickname, err)
		}
	}
}

// storedWallet is a wallet in a model of the storage: every row ever stored.
type storedWallet struct {
	empty       Wallet
	email       string
	credentials map[ident.AuthMethod]Credential
	sessions    map[ident.Session]Session
	requests    []SignedRequest
	now         time.Time
	subjects    int
}

// load reads the wallet as the storage does.
func (m *storedWallet) load() Wallet {
	w := m.empty
	for _, id := range slices.SortedFunc(maps.Keys(m.credentials), ident.AuthMethod.Compare) {
		if c := m.credentials[id]; c.RevokedAt.IsZero() {
			w.Credentials = append(w.Credentials, c)
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(m.sessions), ident.Session.Compare) {
		if s := m.sessions[id]; s.Active(m.now) {
			w.Sessions = append(w.Sessions, s)
		}
	}
	return w.WithDefault(m.email, noon)
}

// save stores a change, and checks that the wallet is then as After says.
func (m *storedWallet) save(t *rapid.T, w Wallet, c Change) {
	for _, changed := range c.Credentials {
		m.credentials[changed.ID] = changed
	}
	for _, changed := range c.Sessions {
		m.sessions[changed.ID] = changed
	}
	after, loaded := w.After(c, m.now), m.load()
	byID := func(a, b Credential) int { return a.ID.Compare(b.ID) }
	slices.SortFunc(after.Credentials, byID)
	slices.SortFunc(loaded.Credentials, byID)
	if len(after.Credentials) != len(loaded.Credentials) || len(after.Sessions) != len(loaded.Sessions) || after.Implicit != loaded.Implicit ||
		len(after.Credentials) > 0 && !reflect.DeepEqual(after.Credentials, loaded.Credentials) || len(after.Sessions) > 0 &&
		!reflect.DeepEqual(after.Sessions, loaded.Sessions) {
		t.Fatalf("after the change\n%+v\nstored\n%+v", after, loaded)
	}
}

func TestWallet_RandomOperationsKeepInvariants(t *testing.T) {
	t.Parallel()
	// Whatever customers do in whatever order: a wallet that had a credential keeps one; there are never two of
	// a kind; no session is active after its credential is gone; and no request is used twice.
	rapid.Check(t, func(t *rapid.T) {
		m := &storedWallet{empty: newWallet(), credentials: map[ident.AuthMethod]Credential{}, sessions: map[ident.Session]Session{}, now: noon}
		if rapid.Bool().Draw(t, "has an address") {
			m.email = "ana@example.com"
		}
		hadCredential := m.email != ""
		used := map[ident.SignedRequest]int{}
		pick := func(w Wallet) Credential {
			if len(w.Credentials) == 0 {
				t.Skip("no credential")
			}
			return rapid.SampledFrom(w.Credentials).Draw(t, "credential")
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				w := m.load()
				kind := rapid.SampledFrom([]CredentialType{EmailOTP, Passkey, OAuth}).Draw(t, "type")
				m.subjects += rapid.IntRange(0, 1).Draw(t, "another person")
				if change, err := w.Add(w.newCredential(kind, fmt.Sprint("subject-", m.subjects), m.now)); err == nil {
					m.save(t, w, change)
					hadCredential = true
				}
			},
			"revoke": func(t *rapid.T) {
				w := m.load()
				if change, err := w.Revoke(pick(w).ID, m.now); err == nil {
					m.save(t, w, change)
				} else if len(w.Credentials) > 1 {
					t.Fatalf("one of %d credentials cannot be revoked: %v", len(w.Credentials), err)
				}
			},
			"open": func(t *rapid.T) {
				w := m.load()
				c := pick(w)
				change, err := w.OpenSession(w.newSession(c, m.now), c, m.now)
				if err != nil {
					t.Fatal(err)
				}
				m.save(t, w, change)
			},
			"end": func(t *rapid.T) {
				w := m.load()
				if len(w.Sessions) == 0 {
					t.Skip("no session")
				}
				change, err := w.EndSession(rapid.SampledFrom(w.Sessions).Draw(t, "session").ID, m.now)
				if err != nil {
					t.Fatal(err)
				}
				m.save(t, w, change)
			},
			"change address": func(t *rapid.T) {
				w := m.load()
				if c, exists := w.First(EmailOTP); exists && !w.Implicit {
					c.SentTo = "other@example.com"
					m.save(t, w, w.Update(c))
				}
			},
			"issue": func(*rapid.T) {
				m.requests = append(m.requests, NewSignedRequest(ident.NewSignedRequest(ids, m.now),
					Action{Platform: m.empty.Platform, Account: m.empty.Account, Operation: ExportWallet}, Call{Path: "/"}, m.now))
			},
			"use": func(t *rapid.T) {
				if len(m.requests) == 0 {
					t.Skip("no request")
				}
				r := &m.requests[rapid.IntRange(0, len(m.requests)-1).Draw(t, "request")]
				if r.Check(Action{Platform: m.empty.Platform, Account: m.empty.Account, Operation: ExportWallet}, Call{Path: "/"}, m.now) == nil {
					if used[r.ID]++; used[r.ID] > 1 || m.now.Sub(r.CreatedAt) >= RequestLifetime {
						t.Fatalf("request %s: used %d times, after %s", r.ID, used[r.ID], m.now.Sub(r.CreatedAt))
					}
					r.UsedAt = m.now
				}
			},
			"wait": func(t *rapid.T) {
				m.now = m.now.Add(time.Duration(rapid.IntRange(1, 1200).Draw(t, "seconds")) * time.Second)
			},
			"": func(t *rapid.T) {
				w := m.load()
				count := map[string]int{}
				for _, c := range w.Credentials {
					count[string(c.Type)]++
					if c.Identity != nil {
						count[c.Identity.Subject]++
					}
				}
				for name, n := range count {
					if n > 1 && name != string(OAuth) {
						t.Fatalf("%d credentials of %s", n, name)
					}
				}
				if hadCredential && len(w.Credentials) == 0 || len(w.Credentials) > MaxCredentials || len(w.Sessions) > MaxSessions {
					t.Fatalf("%d credentials and %d sessions", len(w.Credentials), len(w.Sessions))
				}
				for _, s := range w.Sessions {
					if _, err := w.Credential(s.Credential); err != nil {
						t.Fatalf("the session %s is active: %v", s.ID, err)
					}
				}
			},
		})
	})
}
