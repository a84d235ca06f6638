package main

import (
	"context"
	"fmt"

	"causeway/adapters/cli"
	"causeway/adapters/mail/folder"
	"causeway/adapters/rails/partner"
	"causeway/adapters/rails/partner/conformance"
	"causeway/core/platform"
	"causeway/core/signedmessage"
	"causeway/ports"
)

// smsFlags say how text messages to customers are sent.
type smsFlags struct {
	SMSURL     string `name:"sms-url" env:"CAUSEWAY_SMS_URL" help:"Base URL of a provider that sends text messages to customers of production platforms, as docs/sms.md describes it: https, or http for a loopback address. Without it, and without --sms-folder, they get none." placeholder:"URL"`
	SMSSecret  string `name:"sms-secret" env:"CAUSEWAY_SMS_SECRET" secret:"" help:"With --sms-url: secret with which requests are signed, whsec_ and base64. During a rotation the new and the old one, separated by a comma." placeholder:"SECRET"`
	SMSFolder  string `name:"sms-folder" env:"CAUSEWAY_SMS_FOLDER" type:"path" help:"Folder into which text messages are written instead of being sent: those of sandbox platforms, and without --sms-url those of production platforms too. The newest 1000 are kept. Without it, sandbox platforms send none; causeway dev uses a folder in the data folder." placeholder:"FOLDER"`
	SMSPerHour int    `name:"sms-per-hour" env:"CAUSEWAY_SMS_PER_HOUR" default:"1000" help:"Maximum number of codes by text message to the customers of one platform in each hour of the clock. A request for a further one gets 429."`
	// smsWritten is called after each text message that was written into the folder; it may be nil.
	smsWritten func(path string, m ports.SMS) `kong:"-"`
}

// checkSMS reports invalid values with the name of their setting, and none of a secret.
func (f smsFlags) checkSMS(refuse func(setting, must string, got any)) {
	checkProvider(refuse, "--sms-url (CAUSEWAY_SMS_URL)", f.SMSURL, "--sms-secret (CAUSEWAY_SMS_SECRET)", f.SMSSecret)
	if f.SMSPerHour < 1 || f.SMSPerHour > 1_000_000 {
		refuse("--sms-per-hour (CAUSEWAY_SMS_PER_HOUR)", "from 1 to 1000000", f.SMSPerHour)
	}
}

// checkProvider reports an invalid URL or secret of a provider to which signed requests are made, and returns false without a URL.
func checkProvider(refuse func(setting, must string, got any), urlSetting, url, secretSetting, secret string) bool {
	if url == "" {
		if secret != "" {
			refuse(secretSetting, "left out without "+urlSetting, "set")
		}
		return false
	}
	if _, err := partner.ParseURL(url, false); err != nil {
		refuse(urlSetting, "a URL such as https://provider.example.com/v1, without a user, query or fragment; http is for loopback addresses",
			url)
	}
	if _, err := signedmessage.Parse(secret); err != nil {
		refuse(secretSetting, "secrets of whsec_ and the base64 text of 24 to 64 random bytes", "what is set")
	}
	return true
}

// openSMS returns the senders of text messages by the environment of the platform. Sandbox platforms never send any.
func (f smsFlags) openSMS() (ports.SMSSendersByEnvironment, error) {
	senders := ports.SMSSendersByEnvironment{}
	if f.SMSFolder != "" {
		written, err := folder.NewSMS(f.SMSFolder, f.smsWritten)
		if err != nil {
			return nil, fmt.Errorf("--sms-folder (CAUSEWAY_SMS_FOLDER): %w", err)
		}
		senders[platform.Sandbox], senders[platform.Production] = written, written
	}
	if f.SMSURL != "" {
		signed, err := signedmessage.Parse(f.SMSSecret)
		if err != nil {
			return nil, err
		}
		sender, err := partner.NewSMSSender(f.SMSURL, signed, systemClock{})
		if err != nil {
			return nil, err
		}
		senders[platform.Production] = sender
	}
	return senders, nil
}

type railsConformSMSCommand struct{ conformProviderFlags }

// Run prints a line for each rule, and returns an error if one is broken.
func (c railsConformSMSCommand) Run(ctx context.Context, env *cli.Env) error {
	o, err := c.options()
	if err != nil {
		return err
	}
	suite, err := conformance.NewSMS(ctx, o)
	if err != nil {
		return err
	}
	return printRules(ctx, env.Out, 13, "provider", suite.Run)
}
