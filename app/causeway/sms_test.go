package main

import (
	"path/filepath"
	"strings"
	"testing"

	"causeway/core/platform"
)

const smsSecret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

func TestSMSFlags_ReportInvalidValues(t *testing.T) {
	t.Parallel()
	// Invalid settings of text messages are reported by name, and the secret is not shown.
	for arguments, want := range map[string]string{
		"--sms-url https://sms.test/v1 --sms-secret " + smsSecret: "",
		"--sms-folder /tmp/sms":                                   "",
		"--sms-url http://sms.test --sms-secret " + smsSecret:     "--sms-url (CAUSEWAY_SMS_URL) must be a URL such as",
		"--sms-url https://sms.test --sms-secret guess":           "--sms-secret (CAUSEWAY_SMS_SECRET) must be secrets",
		"--sms-secret " + smsSecret:                               "--sms-secret (CAUSEWAY_SMS_SECRET) must be left out without --sms-url",
		"--sms-per-hour 0":                                        "--sms-per-hour (CAUSEWAY_SMS_PER_HOUR) must be from 1 to 1000000",
	} {
		err := parseDev(t, strings.Fields(arguments)...).validate()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) || err != nil &&
			strings.Contains(err.Error(), "guess") {
			t.Errorf("%s: %v, want %q", arguments, err, want)
		}
	}
}

func TestOpenSMS(t *testing.T) {
	t.Parallel()
	// Sandbox platforms have the folder, and never the provider. Production platforms have the provider, or else the folder.
	folder := filepath.Join(t.TempDir(), "sms")
	for name, test := range map[string]struct {
		flags               smsFlags
		sandbox, production string
	}{
		"nothing":  {smsFlags{}, "<nil>", "<nil>"},
		"folder":   {smsFlags{SMSFolder: folder}, "*folder.SMSSender", "*folder.SMSSender"},
		"provider": {smsFlags{SMSURL: "https://sms.test", SMSSecret: smsSecret}, "<nil>", "*partner.SMSSender"},
		"both":     {smsFlags{SMSURL: "https://sms.test", SMSSecret: smsSecret, SMSFolder: folder}, "*folder.SMSSender", "*partner.SMSSender"},
	} {
		senders, err := test.flags.openSMS()
		if err != nil || typeName(senders[platform.Sandbox]) != test.sandbox || typeName(senders[platform.Production]) != test.production {
			t.Errorf("%s: %T and %T, %v", name, senders[platform.Sandbox], senders[platform.Production], err)
		}
	}
}
