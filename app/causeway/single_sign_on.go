package main

import (
	"net"
	"strings"

	"causeway/adapters/pages/console"
	"causeway/adapters/signin"
	"causeway/adapters/signin/provider"
	"causeway/app/people"
	"causeway/core/person"
)

// singleSignOnFlags say where the people of the console sign in besides here.
type singleSignOnFlags struct {
	SSOIssuer       string   `name:"sso-issuer" env:"CAUSEWAY_SSO_ISSUER" help:"Provider of single sign-on (OpenID Connect) with which people sign in to the console: its address, as its tokens name it. Empty for none." placeholder:"URL"`
	SSOClientID     string   `name:"sso-client-id" env:"CAUSEWAY_SSO_CLIENT_ID" help:"Id of the service at the provider. Its redirect address there is <public-url>/console/sign-in/return." placeholder:"ID"`
	SSOClientSecret string   `name:"sso-client-secret" env:"CAUSEWAY_SSO_CLIENT_SECRET" secret:"" help:"Secret of the service at the provider." placeholder:"SECRET"`
	SSOScopes       []string `name:"sso-scopes" env:"CAUSEWAY_SSO_SCOPES" help:"Scopes that are asked for besides openid, email and profile, such as one that adds the claim with roles." placeholder:"SCOPE"`
	SSORolesClaim   string   `name:"sso-roles-claim" env:"CAUSEWAY_SSO_ROLES_CLAIM" help:"Claim of the ID token from which people have their roles, such as groups or realm_access.roles. Empty: they are invited, and have the roles of the invitation." placeholder:"CLAIM"`
	SSORoles        []string `name:"sso-roles" env:"CAUSEWAY_SSO_ROLES" help:"Roles that values of that claim give: VALUE=ROLE, or VALUE=ROLE@PLATFORM for one platform." placeholder:"VALUE=ROLE"`
}

// checkSingleSignOn reports invalid values with the name of their setting, and none of a secret.
func (f singleSignOnFlags) checkSingleSignOn(publicURL string, refuse func(setting, must string, got any)) {
	if f.SSOIssuer == "" {
		for _, other := range []struct {
			setting string
			isSet   bool
		}{
			{"--sso-client-id (CAUSEWAY_SSO_CLIENT_ID)", f.SSOClientID != ""},
			{"--sso-client-secret (CAUSEWAY_SSO_CLIENT_SECRET)", f.SSOClientSecret != ""},
			{"--sso-scopes (CAUSEWAY_SSO_SCOPES)", len(f.SSOScopes) > 0},
			{"--sso-roles-claim (CAUSEWAY_SSO_ROLES_CLAIM)", f.SSORolesClaim != ""}, {"--sso-roles (CAUSEWAY_SSO_ROLES)", len(f.SSORoles) > 0},
		} {
			if other.isSet {
				refuse(other.setting, "left out without --sso-issuer (CAUSEWAY_SSO_ISSUER)", "set")
			}
		}
		return
	}
	if err := provider.ParseIssuer(f.SSOIssuer); err != nil {
		refuse("--sso-issuer (CAUSEWAY_SSO_ISSUER)", err.Error(), f.SSOIssuer)
	}
	if f.SSOClientID == "" {
		refuse("--sso-client-id (CAUSEWAY_SSO_CLIENT_ID)", "set with --sso-issuer", "empty")
	}
	if f.SSOClientSecret == "" {
		refuse("--sso-client-secret (CAUSEWAY_SSO_CLIENT_SECRET)", "set with --sso-issuer", "empty")
	}
	if publicURL == "" {
		refuse("--public-url (CAUSEWAY_PUBLIC_URL)", "set with --sso-issuer: it is where the provider sends people back", "empty")
	}
	if (f.SSORolesClaim == "") != (len(f.SSORoles) == 0) {
		refuse("--sso-roles-claim (CAUSEWAY_SSO_ROLES_CLAIM) and --sso-roles (CAUSEWAY_SSO_ROLES)", "set together", "one of them")
	}
	if _, err := person.ParseRoleMapping(f.SSORoles); err != nil {
		refuse("--sso-roles (CAUSEWAY_SSO_ROLES)", "entries such as payments-finance=FINANCE: "+err.Error(), strings.Join(f.SSORoles, ","))
	}
}

// signIns returns the use cases of signing in with all the ways that there are at an address.
func (a *app) signIns(address net.Addr) *people.Service {
	config := a.people.Config
	if passkeys, ok := signin.NewPasskeys(a.publicURL(address)); ok {
		config.Passkeys = passkeys
	}
	if a.SSOIssuer != "" {
		config.Provider = provider.New(provider.Config{Issuer: a.SSOIssuer, ClientID: a.SSOClientID, ClientSecret: a.SSOClientSecret,
			ReturnURL: a.publicURL(address) + console.ReturnPath, RolesClaim: a.SSORolesClaim, Scopes: a.SSOScopes,
			Clock: systemClock{}, Log: a.log})
		config.RoleMapping, _ = person.ParseRoleMapping(a.SSORoles) // checked with the settings
	}
	return people.New(config)
}
