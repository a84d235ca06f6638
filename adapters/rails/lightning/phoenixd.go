package lightning

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"causeway/core/fault"
	"causeway/core/lightning"
	"causeway/ports"
)

// phoenixd calls the HTTP interface of phoenixd. Its indexes are the times at which payments have ended, in milliseconds. It follows no
// redirect and uses no proxy.
type phoenixd struct {
	settings  settings
	secrets   ports.Secrets
	transport *http.Transport
	// payWait is how long pay waits for the end of a payment, which goes on after that, and recheck how long a payment that the node does
	// not know is waited for before that is believed.
	payWait, recheck time.Duration
	// page is how many payments are listed at once.
	page int
}

func newPhoenixd(s settings, secrets ports.Secrets) *phoenixd {
	return &phoenixd{settings: s, secrets: secrets, transport: newTransport(s), payWait: 5 * time.Second, recheck: 300 * time.Millisecond,
		page: 1000}
}

func (c *phoenixd) close() { c.transport.CloseIdleConnections() }

// lag is how far behind the last one a payment can still appear: their times are those of a clock, and one can be stored after a later one.
func (c *phoenixd) lag() uint64 { return uint64(time.Hour.Milliseconds()) }

// onTheWay returns what the balance lacks of a payment that is on its way: its amount and the fee that phoenixd always pays.
func (c *phoenixd) onTheWay(satoshis int64) int64 { return satoshis*milli + phoenixdFee(satoshis) }

// phoenixdFee is what phoenixd pays to send satoshis, in thousandths: 0.4 percent and four satoshis.
func phoenixdFee(satoshis int64) int64 { return 4*satoshis + 4*milli }

// errNotFound says that the node knows no payment with a hash, and errNoPath that it has no such call; older versions answer that for both.
var errNotFound, errNoPath = errors.New("the node does not know it"), errors.New("the node does not have the call")

// call makes a call, and decodes its answer unless into is nil. A refusal is an *answer.
func (c *phoenixd) call(ctx context.Context, method, path string, form url.Values, into any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	target := c.settings.url + path
	if method == http.MethodGet && len(form) > 0 {
		target += "?" + form.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, method, target, nil)
	if err != nil {
		return errors.New("the request cannot be made: the URL is not valid")
	}
	if method == http.MethodPost {
		request.Body = io.NopCloser(strings.NewReader(form.Encode()))
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	password, err := c.secrets.Secret(ctx, c.settings.password)
	if err != nil {
		return err
	}
	request.SetBasicAuth("", string(password))
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return errors.New("the answer of the node is incomplete")
	case len(text) > maxAnswer:
		return fmt.Errorf("the answer of the node has more than %d bytes", maxAnswer)
	case response.StatusCode == http.StatusUnauthorized:
		return &answer{code: response.StatusCode, message: "the node does not accept the password; it takes the http-password of phoenix.conf"}
	case response.StatusCode == http.StatusNotFound && strings.HasPrefix(string(text), "Not found"):
		return errNotFound
	case response.StatusCode == http.StatusNotFound:
		return errNoPath
	case response.StatusCode >= 400 && response.StatusCode < 500:
		return &answer{code: response.StatusCode, message: short(string(text))}
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("the node answers with the status %d", response.StatusCode)
	case into == nil:
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return errors.New("the answer of the node is not as documented")
	}
	return nil
}

// short returns the beginning of a text of the node.
func short(text string) string {
	const most = 200
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}

// phoenixdOutgoing is a payment as the node describes it.
type phoenixdOutgoing struct {
	Kind      string `json:"subType"` // empty before 0.5
	Hash      string `json:"paymentHash"`
	TxID      string `json:"txId"`
	Paid      bool   `json:"isPaid"`
	Satoshis  int64  `json:"sent"` // with the fee
	Fee       int64  `json:"fees"` // thousandths
	Completed int64  `json:"completedAt"`
	Created   int64  `json:"createdAt"`
}

func (p phoenixdOutgoing) state() state {
	switch {
	case p.Paid:
		return state{stage: succeeded, feeMilliSatoshis: max(p.Fee, 0)}
	case p.Completed > 0:
		return state{stage: failed, reason: "ERROR"}
	}
	return state{stage: inFlight}
}

func (c *phoenixd) pay(ctx context.Context, order payOrder) (state, error) {
	form := url.Values{"invoice": {order.invoice}}
	if order.satoshis > 0 {
		form.Set("amountSat", strconv.FormatInt(order.satoshis, 10))
	}
	var said struct {
		Reason string `json:"reason"`
	}
	limited, cancel := context.WithTimeout(ctx, c.payWait)
	defer cancel()
	errCall := c.call(limited, http.MethodPost, "/payinvoice", form, &said)
	if refused := (*answer)(nil); errors.As(errCall, &refused) {
		return state{}, errCall
	}
	// A refusal can be that of a payment that is on its way or done, and the fee is said in whole satoshis: so the node is asked by the hash.
	became, err := c.lookup(ctx, order.hash)
	switch {
	case err != nil:
		return state{}, errors.Join(errCall, err)
	case became.stage == notKnown && errCall == nil && said.Reason != "":
		return state{}, &answer{message: short(said.Reason)}
	case became.stage == notKnown, became.stage == failed && errCall != nil: // by an earlier call
		return state{}, errors.Join(errCall, errors.New("the node has not said yet what becomes of it"))
	case became.stage == failed:
		became.reason = phoenixdReason(said.Reason)
	}
	return became, nil
}

// phoenixdReason returns the code of why a payment has failed, by what the node says about it.
func phoenixdReason(text string) string {
	for beginning, code := range map[string]string{
		"not enough funds": insufficientBalance, "channel is not connected": noChannel, "channel creation": noChannel,
		"channel closing": noChannel, "no channels available": noChannel, "payment could not be sent through existing channels": noChannel,
		"the recipient was offline": "NO_ROUTE", "payment attempts exhausted": "NO_ROUTE", "routing fees are insufficient": "NO_ROUTE",
		"recipient node rejected": "INCORRECT_PAYMENT_DETAILS",
	} {
		if strings.HasPrefix(text, beginning) {
			return code
		}
	}
	return "ERROR"
}

// track asks twice before it says that the node does not know a payment: a node that was suspended takes the calls that wait in any order.
func (c *phoenixd) track(ctx context.Context, hash Hash) (state, error) {
	became, err := c.lookup(ctx, hash)
	if err != nil || became.stage != notKnown {
		return became, err
	}
	select {
	case <-ctx.Done():
		return state{}, ctx.Err()
	case <-time.After(c.recheck):
	}
	return c.lookup(ctx, hash)
}

// lookup returns the best that became of all attempts to pay a hash.
func (c *phoenixd) lookup(ctx context.Context, hash Hash) (state, error) {
	var p phoenixdOutgoing
	switch err := c.call(ctx, http.MethodGet, "/payments/outgoingbyhash/"+hash.String(), nil, &p); {
	case errors.Is(err, errNotFound):
		return state{stage: notKnown}, nil
	case errors.Is(err, errNoPath):
		_, err = c.about(ctx) // every version from the oldest one has the call
		return state{stage: notKnown}, err
	case err != nil:
		return state{}, err
	case p.Hash != hash.String():
		return state{}, errors.New("the node describes another payment")
	}
	return p.state(), nil
}

func (c *phoenixd) addInvoice(ctx context.Context, order invoiceOrder) (string, error) {
	if order.milliSatoshis%milli != 0 {
		return "", fault.New(fault.InvalidInput, "The Lightning node makes invoices for whole satoshi only: a multiple of 1000 millisatoshi.")
	}
	form := url.Values{"amountSat": {strconv.FormatInt(order.milliSatoshis/milli, 10)}, "externalId": {order.memo},
		"expirySeconds": {strconv.FormatInt(int64(order.expiry/time.Second), 10)}}
	if order.descriptionHash == [32]byte{} {
		form.Set("description", order.memo)
	} else {
		form.Set("descriptionHash", hex.EncodeToString(order.descriptionHash[:]))
	}
	var made struct {
		Request string `json:"serialized"`
	}
	err := c.call(ctx, http.MethodPost, "/createinvoice", form, &made)
	return made.Request, err
}

// cancelInvoice says whether an invoice was paid; phoenixd cancels none.
func (c *phoenixd) cancelInvoice(ctx context.Context, hash Hash) error {
	var p phoenixdIncoming
	switch err := c.call(ctx, http.MethodGet, "/payments/incoming/"+hash.String(), nil, &p); {
	case err != nil:
		return err
	case p.Paid:
		return errSettled
	}
	return errCannotCancel
}

// about describes the node. Its network has the name of its chain.
func (c *phoenixd) about(ctx context.Context) (about, error) {
	var info struct {
		Key      string `json:"nodeId"`
		Channels []struct {
			State string `json:"state"`
		} `json:"channels"`
		Chain   string `json:"chain"`
		Height  int    `json:"blockHeight"`
		Version string `json:"version"`
	}
	if err := c.call(ctx, http.MethodGet, "/getinfo", nil, &info); err != nil {
		return about{}, err
	}
	a := about{version: info.Version, key: info.Key, synced: info.Height > 0, opensChannels: true,
		network: map[string]lightning.Network{"mainnet": lightning.Main, "testnet": lightning.Test, "testnet3": lightning.Test,
			"testnet4": lightning.Test, "signet": lightning.Signet, "regtest": lightning.Regtest}[info.Chain]}
	for _, channel := range info.Channels {
		if strings.EqualFold(channel.State, "Normal") {
			a.channels++
		}
	}
	if !isSince(info.Version, oldestPhoenixd) {
		return a, fmt.Errorf("the node has the version %.40s; use phoenixd %d.%d or later, which pays no invoice twice at the same time",
			info.Version, oldestPhoenixd[0], oldestPhoenixd[1])
	}
	return a, nil
}

// oldestPhoenixd is the first version that refuses to pay what it is paying.
var oldestPhoenixd = [2]int{0, 6}

// isSince reports whether a version, such as 0.6.2-1a2b3c4, is another one or later.
func isSince(version string, oldest [2]int) bool {
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
		return false
	}
	return major > oldest[0] || major == oldest[0] && minor >= oldest[1]
}

// checkRights asks for a payment that names no invoice: only the password that may pay gets as far as to be refused for that.
func (c *phoenixd) checkRights(ctx context.Context) error {
	err := c.call(ctx, http.MethodPost, "/payinvoice", nil, nil)
	var said *answer
	switch {
	case err == nil:
		return errors.New("the node takes a payment without an invoice")
	case !errors.As(err, &said):
		return err
	case said.code == http.StatusUnauthorized:
		return errors.New("the password may not pay; use the http-password of phoenix.conf, not the one with limited access")
	}
	return nil
}
