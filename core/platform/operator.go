package platform

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"

	"causeway/core/diff"
	"causeway/core/fault"
	"causeway/core/ident"
)

// OperatorActionKind is what an operator did on the command line.
type OperatorActionKind string

// The kinds of actions.
const (
	OperatorCreatedPlatform OperatorActionKind = "CREATE_PLATFORM"
	OperatorCreatedToken    OperatorActionKind = "CREATE_TOKEN"
	OperatorChangedToken    OperatorActionKind = "CHANGE_TOKEN"
	OperatorDeletedToken    OperatorActionKind = "DELETE_TOKEN"

	OperatorUpdatedPlatform OperatorActionKind = "UPDATE_PLATFORM" // also by the platform itself
	OperatorRevokedUMAKeys  OperatorActionKind = "REVOKE_UMA_KEYS" // its name is the other provider, if the keys are that one's
	OperatorResetPlatform   OperatorActionKind = "RESET_PLATFORM"  // its name is the successor
	OperatorErasedCustomer  OperatorActionKind = "ERASE_CUSTOMER"
	// OperatorDecidedSCA is about strong customer authentication of a customer; its name says what.
	OperatorDecidedSCA OperatorActionKind = "DECIDE_SCA"

	OperatorSetTerms      OperatorActionKind = "SET_END_USER_TERMS" // its name is the version
	OperatorImportedVASPs OperatorActionKind = "IMPORT_VASPS"

	OperatorSetLimit     OperatorActionKind = "SET_LIMIT" // its name is the limit and its amounts
	OperatorClearedLimit OperatorActionKind = "CLEAR_LIMIT"

	// What a platform changes of its own, over the API; a customer also on the pages of its verification.
	UpdatedCustomer      OperatorActionKind = "UPDATE_CUSTOMER"
	DeletedCustomer      OperatorActionKind = "DELETE_CUSTOMER"
	CreatedAgent         OperatorActionKind = "CREATE_AGENT"
	UpdatedAgent         OperatorActionKind = "UPDATE_AGENT"
	DeletedAgent         OperatorActionKind = "DELETE_AGENT"
	ConnectedAgent       OperatorActionKind = "CONNECT_AGENT" // by the program that had its device code
	CreatedOwner         OperatorActionKind = "CREATE_BENEFICIAL_OWNER"
	UpdatedOwner         OperatorActionKind = "UPDATE_BENEFICIAL_OWNER"
	CreatedWebhookSecret OperatorActionKind = "CREATE_WEBHOOK_SECRET"
	DeletedWebhookSecret OperatorActionKind = "DELETE_WEBHOOK_SECRET"

	// The name of those of connections is that of the connection.
	OperatorSetConnection     OperatorActionKind = "SET_CONNECTION"
	OperatorRetiredConnection OperatorActionKind = "RETIRE_CONNECTION"
	OperatorDeletedConnection OperatorActionKind = "DELETE_CONNECTION"
	OperatorSetBalance        OperatorActionKind = "SET_CONNECTION_BALANCE"
	// The name of these is that of the connection, and their subject the proposal.
	OperatorProposedConnection OperatorActionKind = "PROPOSE_CONNECTION"
	OperatorRejectedConnection OperatorActionKind = "REJECT_CONNECTION"
	// The name of these is that of the connection or rail.
	OperatorPausedRail  OperatorActionKind = "PAUSE_RAIL"
	OperatorResumedRail OperatorActionKind = "RESUME_RAIL"

	OperatorSetCorridor        OperatorActionKind = "SET_CORRIDOR"
	OperatorResetCorridor      OperatorActionKind = "RESET_CORRIDOR"
	OperatorProposedPrice      OperatorActionKind = "PROPOSE_PRICE" // its subject is the proposal
	OperatorRejectedPrice      OperatorActionKind = "REJECT_PRICE"
	OperatorArchivedMonth      OperatorActionKind = "ARCHIVE_MONTH"
	OperatorRestoredMonth      OperatorActionKind = "RESTORE_MONTH"
	OperatorRotatedDataKey     OperatorActionKind = "ROTATE_DATA_KEY"
	OperatorRemovedDataKey     OperatorActionKind = "REMOVE_DATA_KEY"
	OperatorRotatedLedgerKey   OperatorActionKind = "ROTATE_LEDGER_KEY"
	OperatorRotatedWebhookKeys OperatorActionKind = "ROTATE_WEBHOOK_KEYS"
	OperatorOpenedDocument     OperatorActionKind = "OPEN_DOCUMENT"
	OperatorOpenedReview       OperatorActionKind = "OPEN_REVIEW"
	OperatorOpenedWallet       OperatorActionKind = "OPEN_WALLET"
	OperatorClearedHit         OperatorActionKind = "CLEAR_SCREENING_HIT"
	OperatorConfirmedHit       OperatorActionKind = "CONFIRM_SCREENING_HIT"
	// The reasons of these two are in the notes about the customer.
	PersonHeldCustomer     OperatorActionKind = "HOLD_CUSTOMER"
	PersonReleasedCustomer OperatorActionKind = "RELEASE_CUSTOMER"

	OperatorInvitedPerson  OperatorActionKind = "INVITE_PERSON"
	OperatorLinkedPerson   OperatorActionKind = "LINK_PERSON"
	OperatorChangedRoles   OperatorActionKind = "CHANGE_ROLES"
	OperatorDisabledPerson OperatorActionKind = "DISABLE_PERSON"
	PersonSetUp            OperatorActionKind = "SET_UP_PERSON" // by the person itself, as those below
	PersonSignedIn         OperatorActionKind = "SIGN_IN"
	PersonFailedSignIn     OperatorActionKind = "FAIL_SIGN_IN" // with the right password and a wrong code
	PersonLockedCodes      OperatorActionKind = "LOCK_CODES"   // by too many wrong ones, of whoever has the password
	PersonAddedPasskey     OperatorActionKind = "ADD_PASSKEY"
	PersonRemovedPasskey   OperatorActionKind = "REMOVE_PASSKEY"
	PersonStoppedPasskey   OperatorActionKind = "STOP_PASSKEY" // because it may have been copied
	// What a person changes of its own account.
	PersonChangedPassword       OperatorActionKind = "CHANGE_PASSWORD"
	PersonReplacedAuthenticator OperatorActionKind = "REPLACE_AUTHENTICATOR"
	PersonRenewedRecoveryCodes  OperatorActionKind = "RENEW_RECOVERY_CODES"
	PersonEndedSessions         OperatorActionKind = "END_SESSIONS"
	PersonViewedData            OperatorActionKind = "VIEW_PERSONAL_DATA"
	// The name of those of exports is that of the file, and what it has.
	PersonRequestedExport  OperatorActionKind = "REQUEST_EXPORT"
	PersonCancelledExport  OperatorActionKind = "CANCEL_EXPORT"
	PersonDownloadedExport OperatorActionKind = "DOWNLOAD_EXPORT"
	// What people do on the console where nothing else records the person. It is recorded before it is done, and may be refused then.
	PersonApprovedPayment   OperatorActionKind = "APPROVE_PAYMENT"
	PersonRejectedPayment   OperatorActionKind = "REJECT_PAYMENT"
	PersonCancelledPayment  OperatorActionKind = "CANCEL_PAYMENT"
	PersonSimulatedPayment  OperatorActionKind = "SIMULATE_PAYMENT" // moved one of a sandbox on; its name says how
	PersonSentWebhooks      OperatorActionKind = "SEND_WEBHOOKS_AGAIN"
	PersonImportedStatement OperatorActionKind = "IMPORT_STATEMENT" // its name is that of the account
	PersonAssignedFunds     OperatorActionKind = "ASSIGN_UNMATCHED_FUNDS"
	// OperatorActedAlone is a command on a production service that nobody had signed in for, beside what the command records.
	OperatorActedAlone OperatorActionKind = "BREAK_GLASS"
)

// IsOfConnection reports whether an action has changed the settings of a connection.
func (k OperatorActionKind) IsOfConnection() bool {
	return slices.Contains([]OperatorActionKind{OperatorSetConnection, OperatorRetiredConnection, OperatorDeletedConnection,
		OperatorSetBalance, OperatorProposedConnection, OperatorRejectedConnection}, k)
}

// OperatorAction is the record of an action of an operator. It never changes.
type OperatorAction struct {
	ID       uuid.UUID
	Platform ident.Platform // zero: the whole service
	Kind     OperatorActionKind
	Subject  uuid.UUID // the platform, token or customer; else zero
	Name     string    // of what else was changed, such as a month, or what was erased
	Actor    string
	Person   ident.Person // who has signed in; zero if nobody has
	At       time.Time
	// Changes are the fields that it has changed. Those that are secret or personal have no values.
	Changes []diff.Field
}

const maxActorLength = 200 // characters

// ParseActor returns the name of an operator without surrounding spaces, or INVALID_INPUT.
func ParseActor(text string) (string, error) {
	actor := strings.TrimSpace(text)
	n := utf8.RuneCountInString(actor)
	if n == 0 || n > maxActorLength || !utf8.ValidString(actor) || strings.ContainsFunc(actor, unicode.IsControl) || actorKey(actor) == "" ||
		IsSameActor(actor, Service.Actor) || IsSameActor(actor, Customer.Actor) ||
		IsSameActor(actor, AgentProgram.Actor) {
		return "", fault.Invalid(fault.Field{Field: "actor", Message: "must name who does this, in 1 to 200 characters, none of them a control " +
			"character, and is none of " + Service.Actor + ", " + Customer.Actor + " and " + AgentProgram.Actor})
	}
	return actor, nil
}

// Parsed returns the author with its name as ParseActor does, or INVALID_INPUT.
func (a Author) Parsed() (Author, error) {
	var err error
	a.Actor, err = ParseActor(a.Actor)
	return a, err
}

// IsSameActor reports whether two names are of one person: they differ at most in case, spaces, invisible characters
// and the encoding of letters.
func IsSameActor(a, b string) bool { return strings.EqualFold(actorKey(a), actorKey(b)) }

func actorKey(name string) string {
	visible := strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		return r
	}, name)
	return strings.Join(strings.Fields(norm.NFKC.String(visible)), " ")
}
