package mails

import (
	"bytes"
	"embed"
	"html/template"
	"strings"
	texttemplate "text/template"

	"causeway/core/platform"
	"causeway/ports"
)

//go:embed templates
var files embed.FS

var (
	htmlTemplate = template.Must(template.ParseFS(files, "templates/mail.html"))
	textTemplate = texttemplate.Must(texttemplate.ParseFS(files, "templates/mail.txt"))
)

// page is what the templates show.
type page struct {
	content
	App, Logo string
}

// compose returns a mail of a platform without its id and recipient, and without a sender address if the
// platform has set none.
func compose(p platform.Platform, m Message) (ports.Mail, error) {
	settings := p.WalletSettings()
	if m.kind.IsSMS() {
		return ports.Mail{FromName: settings.AppName, Text: smsText(settings.AppName, m)}, nil
	}
	shown := page{content: m.content, App: settings.AppName, Logo: settings.LogoURL}
	mail := ports.Mail{FromAddress: settings.FromAddress, FromName: settings.FromName, ReplyTo: settings.ReplyTo, Subject: m.Title}
	if m.Code != "" {
		shown.Title = "Your code for " + settings.AppName
		mail.Subject = m.Code + " is your code for " + settings.AppName
	}
	var text, html bytes.Buffer
	if err := textTemplate.Execute(&text, shown); err != nil {
		return mail, err
	}
	if err := htmlTemplate.Execute(&html, shown); err != nil {
		return mail, err
	}
	mail.Text, mail.HTML = text.String(), html.String()
	return mail, nil
}

// smsText returns what a text message says, on one line.
func smsText(app string, m Message) string {
	text := app + ": " + m.SMS
	if m.Code != "" {
		text = m.Code + " is your code for " + app
		if m.Title != "" {
			text += " " + m.Title
		}
		text += ". It expires in " + lifetimeText(m.lifetime) + ". Do not give it to anyone."
	}
	return strings.Join(strings.Fields(text), " ")
}
