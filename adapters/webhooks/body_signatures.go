package webhooks

import (
	"crypto/sha256"
	"sync"

	"github.com/google/uuid"
)

// maxBodySignatures is how many signatures are kept for retries.
const maxBodySignatures = 4096

// bodySignatures keeps the values of Service-Webhook-Signature of deliveries that failed, so that a
// body is signed once by each key, however often it is sent. It is safe for concurrent use.
type bodySignatures struct {
	mu     sync.RWMutex
	values map[bodySignature]string
}

// bodySignature is a body and the key that signs it; zero for a delivery without this signature.
type bodySignature struct {
	key    uuid.UUID
	digest [sha256.Size]byte
}

func (c *bodySignatures) get(of bodySignature) string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.values[of]
}

// put keeps a value for a retry.
func (c *bodySignatures) put(of bodySignature, value string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.values == nil || len(c.values) >= maxBodySignatures {
		c.values = map[bodySignature]string{}
	}
	c.values[of] = value
}

// remove removes the value of a delivery that will not be retried.
func (c *bodySignatures) remove(of bodySignature) {
	if c.get(of) == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.values, of)
}
