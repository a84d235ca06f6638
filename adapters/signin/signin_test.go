package signin_test

import (
	"encoding/base32"
	"strings"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"

	"causeway/adapters/signin"
)

// rfcSecret is the secret of the test vectors of RFC 6238 for SHA-1.
var rfcSecret = base32.StdEncoding.EncodeToString([]byte("12345678901234567890"))

func TestTOTPStep_VectorsOfRFC6238(t *testing.T) {
	t.Parallel()
	// The vectors of appendix B, of whose eight digits the last six are the code, are accepted at their times, with their steps.
	for unix, code := range map[int64]string{59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924",
		2000000000: "279037", 20000000000: "353130"} {
		step, ok := signin.Verifier{}.TOTPStep(rfcSecret, code, time.Unix(unix, 0))
		if !ok || step != unix/30 {
			t.Errorf("at %d: step %d, %t, want %d", unix, step, ok, unix/30)
		}
	}
}

func TestTOTPStep_OneStepOff(t *testing.T) {
	t.Parallel()
	// A code is accepted in its step, and one step before and after it; the step is that of the code, not that of the clock.
	const unix, code = 1111111109, "081804"
	const first = unix / 30 * 30 // second of the step
	for offset, want := range map[int64]bool{-31: false, -30: true, -1: true, 0: true, 29: true, 30: true, 59: true, 60: false, 3600: false} {
		step, ok := signin.Verifier{}.TOTPStep(rfcSecret, code, time.Unix(first+offset, 0))
		if ok != want || ok && step != unix/30 {
			t.Errorf("%d seconds after its beginning: step %d, %t, want %t", offset, step, ok, want)
		}
	}
}

func TestTOTPStep_Texts(t *testing.T) {
	t.Parallel()
	// Spaces are as an application shows them; anything else but the six digits is refused, as is a secret that is none.
	at := time.Unix(1111111109, 0)
	for _, code := range []string{"081804", "081 804", " 081804\n", "0 8 1 8 0 4"} {
		if _, ok := (signin.Verifier{}).TOTPStep(rfcSecret, code, at); !ok {
			t.Errorf("%q is refused", code)
		}
	}
	for _, code := range []string{"", "081805", "81804", "0081804", "07081804", "081804 ,", "081-804", "０８１８０４", "081804\x00"} {
		if _, ok := (signin.Verifier{}).TOTPStep(rfcSecret, code, at); ok {
			t.Errorf("%q is accepted", code)
		}
	}
	other := signin.Verifier{}.NewTOTPSecret()
	for _, secret := range []string{"", other, rfcSecret[:31], rfcSecret[:16], rfcSecret + rfcSecret, rfcSecret + "=", "!" + rfcSecret[1:]} {
		if _, ok := (signin.Verifier{}).TOTPStep(secret, "081804", at); ok {
			t.Errorf("the secret %q is accepted", secret)
		}
	}
}

func TestNewTOTPSecret_Random(t *testing.T) {
	t.Parallel()
	// A secret has 160 bits in base32 that applications read, and no two are the same.
	seen := map[string]bool{}
	for range 100 {
		secret := signin.Verifier{}.NewTOTPSecret()
		if raw, err := base32.StdEncoding.DecodeString(secret); err != nil || len(raw) != 20 || seen[secret] {
			t.Fatalf("%q, %v", secret, err)
		}
		seen[secret] = true
	}
}

func TestPassword_RoundTrip(t *testing.T) {
	t.Parallel()
	// The hash of a password, with a salt of its own, is that of no other one. Letters with marks are the same however composed.
	v := signin.Verifier{}
	const password = "une phrase gar\u00e7on \u2126 2026"
	hash, err := v.HashPassword(password)
	if err != nil {
		t.Fatal(err)
	}
	again, err := v.HashPassword(password)
	if err != nil || again == hash || strings.Contains(hash, password) {
		t.Errorf("%q and %q, %v", hash, again, err)
	}
	for text, want := range map[string]bool{
		password:                              true,
		"une phrase garc\u0327on \u03a9 2026": true,
		"":                                    false,
		password + " ":                        false,
		strings.ToUpper(password):             false,
		password[:len(password)-1]:            false,
		hash:                                  false,
		strings.Repeat("a", 1<<20):            false,
	} {
		if got, err := v.CheckPassword(hash, text); err != nil || got != want {
			t.Errorf("%.60q: %t, %v", text, got, err)
		}
	}
	params, salt, key, err := argon2id.DecodeHash(hash)
	if err != nil || *params != *signin.Parameters || len(salt) != 16 || len(key) != 32 {
		t.Errorf("%+v, %d and %d bytes, %v", params, len(salt), len(key), err)
	}
}

func TestCheckPassword_WithoutHash(t *testing.T) {
	t.Parallel()
	// One who has no password costs the same work as one who has: the hash that is compared then has the present parameters. No
	// password is right, also not the empty one.
	params, salt, key, err := argon2id.DecodeHash(signin.OtherHash)
	if err != nil || *params != *signin.Parameters || len(salt) != 16 || len(key) != 32 {
		t.Errorf("%+v, %d and %d bytes, %v", params, len(salt), len(key), err)
	}
	for _, password := range []string{"", "correct horse battery", signin.OtherHash} {
		if got, err := (signin.Verifier{}).CheckPassword("", password); err != nil || got {
			t.Errorf("%q: %t, %v", password, got, err)
		}
	}
}

func TestCheckPassword_EarlierParameters(t *testing.T) {
	t.Parallel()
	// Hashes keep their parameters, so that these can grow: those of before are checked with their own. What is no hash is an
	// error, not a wrong password.
	const password = "correct horse battery"
	for _, earlier := range []argon2id.Params{{Memory: 8 << 10, Iterations: 1, Parallelism: 1, SaltLength: 8, KeyLength: 16},
		{Memory: 16 << 10, Iterations: 3, Parallelism: 4, SaltLength: 32, KeyLength: 64}} {
		hash, err := argon2id.CreateHash(password, &earlier)
		if err != nil {
			t.Fatal(err)
		}
		for text, want := range map[string]bool{password: true, password + "!": false} {
			if got, err := (signin.Verifier{}).CheckPassword(hash, text); err != nil || got != want {
				t.Errorf("%+v, %q: %t, %v", earlier, text, got, err)
			}
		}
	}
	// A vector of the reference implementation (test.c), version 0x13.
	const reference = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	if got, err := (signin.Verifier{}).CheckPassword(reference, "password"); err != nil || !got {
		t.Errorf("the reference: %t, %v", got, err)
	}
	for _, text := range []string{"x", password, strings.Replace(reference, "argon2id", "argon2i", 1),
		"$2a$10$" + strings.Repeat("a", 53)} {
		if got, err := (signin.Verifier{}).CheckPassword(text, password); err == nil || got {
			t.Errorf("%q: %t, %v", text, got, err)
		}
	}
}

func TestIsGuessable(t *testing.T) {
	t.Parallel()
	// Passwords that many people choose, rows and repetitions are guessable, however letters are replaced; words that have nothing to
	// do with each other are not, nor what a program has made.
	for password, want := range map[string]bool{
		"password1234":           true,
		"P@ssw0rd1234":           true,
		"Password2026!":          true,
		"123456789012":           true,
		"qwertyuiop12":           true,
		"letmeinletmein":         true,
		"administrator1":         true,
		"causeway2026!":          true,
		"            ":           true,
		strings.Repeat("ab", 30): true,
		"":                       true,
		"correct horse battery":  false,
		"summer holiday 26":      false,
		"пароль из слов":         false,
		"🐎🔋📎🏠 four signs":        false,
		"J7d0-fkwp-33ax":         false,
	} {
		if got := (signin.Verifier{}).IsGuessable(password); got != want {
			t.Errorf("%q is guessable: %t", password, got)
		}
	}
	// One of the longest, all of which would take a second to estimate.
	if (signin.Verifier{}).IsGuessable(strings.Repeat("漢é漢é🐎é漢漢🐎🐎", 12)) {
		t.Error("a long password is guessable")
	}
}
