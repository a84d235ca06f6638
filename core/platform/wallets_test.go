package platform_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/fault"
	"causeway/core/platform"
)

// walletFields returns the invalid fields of a change of the settings for embedded wallets.
func walletFields(p platform.Platform, c platform.WalletsChange) []string {
	_, _, err := p.Apply(platform.Change{Wallets: &c}, time.Time{})
	f, _ := fault.As(err)
	if f == nil {
		return nil
	}
	fields := make([]string, len(f.Fields))
	for i, field := range f.Fields {
		fields[i] = strings.TrimPrefix(field.Field, "embeddedWalletConfig.")
	}
	return fields
}

func TestApply_WalletsMergesAndSetsDefaults(t *testing.T) {
	t.Parallel()
	// A change starts from the defaults, keeps what it does not name, and a zero value sets a default.
	p := platform.Platform{Name: "Acme", Environment: platform.Production}
	if got := p.WalletSettings(); got.AppName != "Acme" || got.CodeLength != 6 || got.CodeLifetime != 5*time.Minute ||
		got.FromName != "Notifications" {
		t.Errorf("settings of a platform that has set none: %+v", got)
	}

	first, _, err := p.Apply(platform.Change{Wallets: &platform.WalletsChange{AppName: new("Acme Wallet"), CodeLength: new(8),
		PasskeyRPID:    new("acme.test"),
		PasskeyOrigins: &[]string{"HTTPS://App.Acme.Test:443", "https://acme.test:8443"}}}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	want := &platform.Wallets{AppName: "Acme Wallet", CodeLength: 8, CodeLifetime: 5 * time.Minute, FromName: "Notifications",
		PasskeyRPID:    "acme.test",
		PasskeyOrigins: []string{"https://app.acme.test", "https://acme.test:8443"}}
	if !reflect.DeepEqual(first.Wallets, want) || first.WalletSettings().AppName != "Acme Wallet" {
		t.Errorf("after the first change: %+v\nwant %+v", first.Wallets, want)
	}

	second, _, err := first.Apply(platform.Change{Wallets: &platform.WalletsChange{AppName: new(""), CodeLength: new(0),
		FromName: new("Ana")}}, time.Time{})
	want.AppName, want.CodeLength, want.FromName = "", 6, "Ana"
	if err != nil || !reflect.DeepEqual(second.Wallets, want) {
		t.Errorf("after the second: %+v, %v\nwant %+v", second.Wallets, err, want)
	}
	if first.Wallets.CodeLength != 8 || p.Wallets != nil {
		t.Error("a change altered the platform that it was applied to")
	}
}

func TestApply_WalletsRefusesInvalidSettings(t *testing.T) {
	t.Parallel()
	// Each setting is accepted up to its limits and refused beyond them.
	hash := strings.Repeat("A", 43)
	for name, test := range map[string]struct {
		change  platform.WalletsChange
		sandbox []string
		// production is what a production platform is refused; as sandbox if nil.
		production []string
	}{
		"limits": {change: platform.WalletsChange{CodeLength: new(4), CodeLifetime: new(time.Second),
			AppName: new(strings.Repeat("é", 255)), LogoURL: new("https://a.test/logo?v=1")}, production: []string{"otpLength"}},
		"short codes":    {change: platform.WalletsChange{CodeLength: new(5)}, production: []string{"otpLength"}},
		"six characters": {change: platform.WalletsChange{CodeLength: new(6)}},
		"other limits":   {change: platform.WalletsChange{CodeLength: new(12), CodeLifetime: new(24 * time.Hour)}},
		"below": {change: platform.WalletsChange{CodeLength: new(3), CodeLifetime: new(-time.Second)},
			sandbox: []string{"expirationSeconds", "otpLength"}},
		"above": {change: platform.WalletsChange{CodeLength: new(13), CodeLifetime: new(24*time.Hour + 1)},
			sandbox: []string{"expirationSeconds", "otpLength"}},
		"long names": {change: platform.WalletsChange{AppName: new(strings.Repeat("é", 256)), FromName: new(strings.Repeat("x", 256))},
			sandbox: []string{"appName", "sendFromEmailSenderName"}},
		"lines in names": {change: platform.WalletsChange{AppName: new("a\nb"), FromName: new("a\r\nBcc: x@y.test")},
			sandbox: []string{"appName", "sendFromEmailSenderName"}},
		"hidden order": {change: platform.WalletsChange{AppName: new("a\u202eb"), FromName: new("a\u2028b")},
			sandbox: []string{"appName", "sendFromEmailSenderName"}},
		"spaces around names": {change: platform.WalletsChange{AppName: new(" a")}, sandbox: []string{"appName"}},
		"addresses": {change: platform.WalletsChange{FromAddress: new("a"), ReplyTo: new("a@b.test\r\nBcc: c@d.test")},
			sandbox: []string{"replyToEmailAddress", "sendFromEmailAddress"}},
		"good addresses":     {change: platform.WalletsChange{FromAddress: new("a@b.test"), ReplyTo: new("c@d.test")}},
		"logo over http":     {change: platform.WalletsChange{LogoURL: new("http://a.test/l.png")}, sandbox: []string{"logoUrl"}},
		"logo with password": {change: platform.WalletsChange{LogoURL: new("https://u:p@a.test/l.png")}, sandbox: []string{"logoUrl"}},
		"logo as data":       {change: platform.WalletsChange{LogoURL: new("data:image/png;base64,AAAA")}, sandbox: []string{"logoUrl"}},
		"long logo": {change: platform.WalletsChange{LogoURL: new("https://a.test/" + strings.Repeat("x", 500))},
			sandbox: []string{"logoUrl"}},

		"domain": {change: platform.WalletsChange{PasskeyRPID: new("acme.test"), PasskeyOrigins: &[]string{"https://acme.test",
			"https://a.b.acme.test:444", "android:apk-key-hash:" + hash}}},
		"top level":  {change: platform.WalletsChange{PasskeyRPID: new("com")}, sandbox: []string{"passkeyRpId"}},
		"address":    {change: platform.WalletsChange{PasskeyRPID: new("127.0.0.1")}, sandbox: []string{"passkeyRpId"}},
		"URL":        {change: platform.WalletsChange{PasskeyRPID: new("https://acme.test")}, sandbox: []string{"passkeyRpId"}},
		"upper case": {change: platform.WalletsChange{PasskeyRPID: new("Acme.test")}, sandbox: []string{"passkeyRpId"}},
		"localhost": {change: platform.WalletsChange{PasskeyRPID: new("localhost"), PasskeyOrigins: &[]string{"http://localhost:3000"}},
			production: []string{"passkeyRpId", "passkeyOrigins[0]"}},
		"http": {change: platform.WalletsChange{PasskeyRPID: new("acme.test"), PasskeyOrigins: &[]string{"http://acme.test"}},
			sandbox: []string{"passkeyOrigins[0]"}},
		"another site": {change: platform.WalletsChange{PasskeyRPID: new("acme.test"), PasskeyOrigins: &[]string{"https://notacme.test",
			"https://acme.test.evil.test", "https://test"}}, sandbox: []string{"passkeyOrigins[0]", "passkeyOrigins[1]", "passkeyOrigins[2]"}},
		"path": {change: platform.WalletsChange{PasskeyRPID: new("acme.test"), PasskeyOrigins: &[]string{"https://acme.test/",
			"https://acme.test?x", "https://u@acme.test"}}, sandbox: []string{"passkeyOrigins[0]", "passkeyOrigins[1]", "passkeyOrigins[2]"}},
		"twice": {change: platform.WalletsChange{PasskeyRPID: new("acme.test"), PasskeyOrigins: &[]string{"https://acme.test",
			"https://ACME.test:443"}}, sandbox: []string{"passkeyOrigins[1]"}},
		"short hash": {change: platform.WalletsChange{PasskeyOrigins: &[]string{"android:apk-key-hash:" + hash[1:], "android:apk-key-hash:" +
			hash + "="}}, sandbox: []string{"passkeyOrigins[0]", "passkeyOrigins[1]"}},
		"too many":   {change: platform.WalletsChange{PasskeyOrigins: new(origins(21))}, sandbox: []string{"passkeyOrigins"}},
		"as many":    {change: platform.WalletsChange{PasskeyOrigins: new(origins(20))}},
		"client ids": {change: platform.WalletsChange{OAuthClientIDs: &[]string{"a.apps.googleusercontent.com", "com.acme.app"}}},
		"bad client ids": {change: platform.WalletsChange{OAuthClientIDs: &[]string{"", "a b", "é", strings.Repeat("x", 256), "a", "a"}},
			sandbox: []string{"oauthClientIds[0]", "oauthClientIds[1]", "oauthClientIds[2]", "oauthClientIds[3]", "oauthClientIds[5]"}},
		"many client ids": {change: platform.WalletsChange{OAuthClientIDs: new(origins(21))}, sandbox: []string{"oauthClientIds"}},
	} {
		if test.production == nil {
			test.production = test.sandbox
		}
		for environment, want := range map[platform.Environment][]string{platform.Sandbox: test.sandbox, platform.Production: test.production} {
			if got := walletFields(platform.Platform{Environment: environment}, test.change); !slices.Equal(got, want) {
				t.Errorf("%s, %s: refused %q, want %q", name, environment, got, want)
			}
		}
	}
}

func origins(n int) []string {
	origins := make([]string, n)
	for i := range origins {
		origins[i] = "https://" + strings.Repeat("a", i+1) + ".test"
	}
	return origins
}

func TestApply_WalletsPasskeyOriginsStayBelowDomain(t *testing.T) {
	t.Parallel()
	// Whatever is accepted, the host of each web origin is the domain or below it, and applying the same
	// change again changes nothing.
	rapid.Check(t, func(t *rapid.T) {
		origin := rapid.StringMatching(`(https|http|HTTPS)://([a-cA-C.@:/?#%-]{0,6}\.)?(acme\.test|ACME\.test|evil\.test)(:[0-9]{1,3})?/?`)
		change := platform.Change{Wallets: &platform.WalletsChange{PasskeyRPID: new("acme.test"),
			PasskeyOrigins: new(rapid.SliceOfN(origin, 1, 3).Draw(t, "origins"))}}
		after, _, err := platform.Platform{Environment: platform.Production}.Apply(change, time.Time{})
		if err != nil {
			return
		}
		for _, accepted := range after.Wallets.PasskeyOrigins {
			host, ok := strings.CutPrefix(accepted, "https://")
			host, _, _ = strings.Cut(host, ":")
			if !ok || host != "acme.test" && !strings.HasSuffix(host, ".acme.test") {
				t.Fatalf("accepted %q", accepted)
			}
		}
		again, _, err := after.Apply(change, time.Time{})
		if err != nil || !reflect.DeepEqual(again.Wallets, after.Wallets) {
			t.Fatalf("applied again: %+v, %v", again.Wallets, err)
		}
	})
}
