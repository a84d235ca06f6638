package mails

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"causeway/core/platform"
	"causeway/core/wallet"
	"causeway/ports"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func everyMessage() map[string]Message {
	all := map[string]Message{
		"code":               Code("123456", 5*time.Minute),
		"wallet_exported":    WalletExported(noon),
		"credential_added":   CredentialAdded(wallet.Credential{Type: wallet.Passkey, Nickname: "Ana's phone"}, noon),
		"credential_removed": CredentialRemoved(wallet.Credential{Type: wallet.EmailOTP, Nickname: "ana@example.com"}, noon),
		"address_changed":    AddressChanged(wallet.EmailOTP, noon),
		"phone_changed":      AddressChanged(wallet.SMSOTP, noon),
		"sms_code":           SMSCode("123456", "to pay EUR 10.00 to Acme GmbH", 5*time.Minute),
	}
	for name, m := range maps.Clone(all) {
		if m.Code == "" {
			m.kind = m.kind.AsSMS()
			all["sms_"+name] = m
		}
	}
	return all
}

func TestCompose_MatchesGoldenFiles(t *testing.T) {
	t.Parallel()
	// Each mail has the texts of its golden files: of a platform with a logo and of one without settings.
	branded := platform.Platform{Name: "Acme Inc.", Wallets: &platform.Wallets{AppName: "Acme Wallet", FromAddress: "wallet@acme.test",
		FromName: "Acme", ReplyTo: "help@acme.test", LogoURL: "https://acme.test/logo.png?a=1&b=2"}}
	for name, message := range everyMessage() {
		check := func(name string, p platform.Platform) {
			mail, err := compose(p, message)
			if err != nil {
				t.Fatal(err)
			}
			if message.kind.IsSMS() {
				if len(mail.Text) > 160 {
					t.Errorf("%s has %d characters, and needs a second part", name, len(mail.Text))
				}
				checkGolden(t, name+".txt", mail.FromName+": "+mail.Text+"\n")
				return
			}
			headers := "From: " + mail.FromName + " <" + mail.FromAddress + ">\nReply-To: " + mail.ReplyTo + "\nSubject: " + mail.Subject + "\n\n"
			checkGolden(t, name+".txt", headers+mail.Text)
			checkGolden(t, name+".html", mail.HTML)
		}
		check(name, branded)
		if name == "code" {
			check("code_without_settings", platform.Platform{Name: "Acme Inc."})
		}
	}
}

func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil || got != string(want) {
		t.Errorf("%s, %v: got\n%s\nwant\n%s", name, err, got, want)
	}
}

func TestCompose_LoadsNothingButTheLogo(t *testing.T) {
	t.Parallel()
	// Names of platforms and credentials are shown as they are, and never as markup. The only address in a
	// mail is that of the logo, whose text is the name of the app; the language and the title are set.
	const hostile = `<img src=https://evil.test/x onerror=alert(1)> & "Co" {{.Code}}`
	p := platform.Platform{Wallets: &platform.Wallets{AppName: hostile, LogoURL: "https://acme.test/logo.png"}}
	messages := everyMessage()
	messages["hostile nickname"] = CredentialAdded(wallet.Credential{Type: wallet.OAuth, Nickname: hostile}, noon)
	maps.DeleteFunc(messages, func(_ string, m Message) bool { return m.kind.IsSMS() }) // are no HTML
	for name, message := range messages {
		mail, err := compose(p, message)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(mail.Text, hostile) {
			t.Errorf("%s: the text does not have the name as it is:\n%s", name, mail.Text)
		}
		root, err := html.Parse(strings.NewReader(mail.HTML))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		for node := range root.Descendants() {
			if node.Type != html.ElementNode {
				continue
			}
			seen[node.Data]++
			for _, a := range node.Attr {
				switch {
				case node.Data == "img" && a.Key == "src":
					if a.Val != "https://acme.test/logo.png" {
						t.Errorf("%s: loads %s", name, a.Val)
					}
				case node.Data == "img" && a.Key == "alt" && a.Val != hostile:
					t.Errorf("%s: the text of the logo is %q", name, a.Val)
				case strings.HasPrefix(a.Key, "on"), a.Key == "href", a.Key == "src", strings.Contains(a.Val, "url("):
					t.Errorf("%s: <%s %s=%q>", name, node.Data, a.Key, a.Val)
				}
			}
		}
		if seen["img"] != 1 || seen["h1"] != 1 || seen["title"] != 1 || seen["script"]+seen["link"]+seen["style"]+seen["a"] != 0 ||
			!strings.Contains(mail.HTML, `<html lang="en">`) {
			t.Errorf("%s: elements %v", name, seen)
		}
	}
}

func TestMessages_EveryKindExists(t *testing.T) {
	t.Parallel()
	// There is a message of each kind. A code is of no use after its lifetime, and a notice is tried for days.
	kinds := map[ports.MailKind]bool{}
	for _, m := range everyMessage() {
		kinds[m.kind] = true
		if want := map[bool]time.Duration{true: 5 * time.Minute, false: 72 * time.Hour}[m.Code != ""]; m.lifetime != want {
			t.Errorf("%s is kept for %s", m.kind, m.lifetime)
		}
	}
	for _, kind := range ports.MailKinds {
		if !kinds[kind] {
			t.Errorf("no message is of the kind %s", kind)
		}
	}
}

func TestLifetimeText_NamesUnits(t *testing.T) {
	t.Parallel()
	// A duration is written in one or two units.
	for d, want := range map[time.Duration]string{
		time.Second: "1 second", 59 * time.Second: "59 seconds", time.Minute: "1 minute", 90 * time.Second: "1 minute and 30 seconds",
		5 * time.Minute: "5 minutes",
		time.Hour:       "1 hour", 90 * time.Minute: "1 hour and 30 minutes", 24 * time.Hour: "24 hours", 2*time.Hour + time.Second: "2 hours",
	} {
		if got := lifetimeText(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}
