package platform

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"causeway/core/diff"
	"causeway/core/money"
)

// endpointQuery is the query of the webhook endpoint, which may be a password.
const endpointQuery = "webhookEndpoint.query"

// ChangedSettings returns the settings of which two versions of a platform differ, by their names in the API.
func ChangedSettings(before, after Platform) []diff.Field {
	return diff.Hide(diff.Between(before.settings(), after.settings()), func(name string) bool { return name != endpointQuery })
}

func (p Platform) settings() diff.Values {
	endpoint, query, _ := strings.Cut(p.WebhookEndpoint, "?")
	v := diff.Values{
		"umaDomain": p.UMADomain, "webhookEndpoint": endpoint, endpointQuery: query, "invitationUrl": p.InvitationURL,
		"webhookSignatures":               strings.Join(p.WebhookSignatures.Names(), ", "),
		"lightningAddressesEnabled":       strconv.FormatBool(p.LightningAddresses),
		"kycRedirectOrigins":              strings.Join(p.KYCRedirectOrigins, ", "),
		"isRegulatedFinancialInstitution": strconv.FormatBool(p.Regulated),
		"scaRegions":                      SCARegionsText(p.SCARegions),
		"scaExemptions":                   strings.Join(p.SCAExemptions.Names(), ", "),
	}
	if !p.SCAPaymentsSince.IsZero() {
		v["scaPaymentsSince"] = p.SCAPaymentsSince.UTC().Format(time.RFC3339)
	}
	for _, c := range p.Currencies {
		name := "supportedCurrencies." + string(c.Code) + "."
		v[name+"minAmount"] = money.Amount{Minor: c.MinAmount, Currency: c.Code}.String()
		v[name+"maxAmount"] = money.Amount{Minor: c.MaxAmount, Currency: c.Code}.String()
		v[name+"enabledTransactionTypes"] = strings.Join(c.Directions, ", ")
		for _, f := range c.RequiredCounterpartyFields {
			v[name+"requiredCounterpartyFields."+f.Name] = map[bool]string{true: "mandatory", false: "optional"}[f.Mandatory]
		}
	}
	for _, f := range p.Fees {
		v["feeConfigs."+string(f.Type)+"."+string(f.Source)] = fmt.Sprintf("%s + %d basis points", f.Fee.Fixed, f.Fee.BasisPoints)
	}
	if w := p.Wallets; w != nil {
		for name, value := range map[string]string{
			"appName": w.AppName, "otpLength": strconv.Itoa(w.CodeLength), "alphanumeric": strconv.FormatBool(w.AlphanumericCodes),
			"expirationSeconds": strconv.Itoa(int(w.CodeLifetime / time.Second)), "sendFromEmailAddress": w.FromAddress,
			"sendFromEmailSenderName": w.FromName, "replyToEmailAddress": w.ReplyTo, "logoUrl": w.LogoURL, "passkeyRpId": w.PasskeyRPID,
			"passkeyOrigins": strings.Join(w.PasskeyOrigins, ", "), "oauthClientIds": strings.Join(w.OAuthClientIDs, ", "),
		} {
			v[embeddedWalletPath+name] = value
		}
	}
	return v
}
