package refname

// Words that say that values are ids, and nothing else.
var idWords = []string{"id", "guid", "uid", "uuid", "fk", "ref", "pk", "oid"}

// notIDs end in id, and do not mean it.
var notIDs = []string{
	"valid", "invalid", "paid", "unpaid", "prepaid", "void", "avoid", "solid", "rapid", "grid", "android", "bid", "raid", "fluid", "liquid", "said", "aid",
	"mid", "kid", "hid", "hybrid", "acid", "lastbid", "startbid", "minbid", "maxbid", "amid",
}

// Last words of the names of quantities, times and places.
var quantities = []string{
	"count", "counter", "amount", "quantity", "qty", "number", "num", "total", "sum", "size", "length", "len", "width", "height", "depth", "weight", "level", "lv", "lvl",
	"exp", "xp", "experience", "price", "cost", "money", "gold", "coin", "balance", "rate", "ratio", "percent", "score", "point", "time", "date", "timestamp", "at", "day", "hour",
	"minute", "second", "month", "year", "week", "duration", "expire", "expires", "timer", "tick", "x", "y", "z", "o", "pos", "hp", "mp", "sp", "health", "mana", "power", "strength",
	"agility", "stamina", "intellect", "spirit", "armor", "attack", "defense", "speed", "flag", "mask", "bit", "option", "enabled", "active", "deleted", "visible",
	"order", "sort", "position", "priority", "rank", "rating", "durability", "charge", "stack", "limit", "min", "max", "version", "color", "colour", "byte", "view", "hit",
	"vote", "win", "loss", "kill", "death", "age", "state", "status", "mode", "port", "title", "str", "agi", "vit", "int", "dex", "luk", "luck", "fame", "karma", "step", "stage", "progress",
	"lifetime", "period", "interval", "offset", "retry", "attempt", "discount", "tax", "fee", "deposit", "stock", "bonus", "damage", "heal", "critical", "dodge", "online", "expiry",
}

// yesOrNo are first words of the names of columns that say yes or no, or how often.
var yesOrNo = []string{"can", "is", "has", "allow", "show", "hide", "enable", "disable", "use", "num", "max", "min", "reset"}

// turns are words that are written together with the thing that they tell from others of its kind, as in lastpost.
var turns = []string{"first", "last", "previous", "prev", "next", "old", "new", "current", "default", "main"}

// roles are words for people that columns refer to.
var roles = []string{
	"owner", "leader", "master", "member", "friend", "sender", "receiver", "recipient", "creator", "author", "editor", "buyer", "seller", "killer", "victim", "inviter", "invitee",
	"opponent", "attacker", "defender", "winner", "loser", "assignee", "maker", "by", "user", "player", "character", "account", "customer", "captain", "founder", "poster", "writer",
	"father", "mother", "partner", "spouse", "husband", "wife", "looter", "assistant", "tank", "mentor", "student", "apprentice", "reporter", "reviewer", "approver",
	"moderator", "admin", "target", "source", "from", "to", "dest", "send", "recv", "giver", "taker", "blocker", "ignored", "invited", "bidder", "borrower", "lender", "participant",
	"person", "people", "who", "buy", "sell", "follower", "followed", "host", "guest", "manager", "employee", "operator", "officer", "president", "chief", "king", "lord", "closer", "assigned", "buddy", "ignore", "referrer", "referral",
}

// things are words for people that begin the names of what is said of them, such as the role of a user.
var things = []string{"user", "player", "member", "character", "account", "customer", "person"}

// listWords are last words of the names of lists.
var listWords = []string{"list", "array", "set"}

// containers are words for things that things are in.
var containers = []string{"bag", "container", "item", "weapon", "equipment", "equip", "backpack", "attachment", "gift"}

// relatives are words for rows of the same table.
var relatives = []string{"parent", "child", "previous", "prev", "next", "root", "origin", "original", "ancestor", "successor", "reply", "copy", "superior", "replaced", "father", "mother", "partner"}

// byLetter are ids by the letter of what they are of: pid is the id of a player.
var byLetter = map[string]string{"uid": "user", "gid": "guild", "pid": "player", "rid": "role", "cid": "character"}

// groupWords are words for groups of people that columns refer to.
var groupWords = []string{"guild", "clan", "alliance"}

// kindWords end the names of columns that say what kind of thing the ids beside them stand for.
var kindWords = []string{"type", "kind", "class", "table", "model"}
