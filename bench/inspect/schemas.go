package inspect

// The schemas are written for this benchmark, in the styles that applications have. None declares a foreign key. A
// line is a table, and a word is a column:
//
//	id+         the primary key, counted up by the database
//	guid*       the primary key, or a member of it
//	owner>hero  refers to the key of hero; a quarter of its values is 0, unless it is in the primary key
//	bag?>item   nearly all of its values are 0
//	level:60    a number below 60
//	owner^      has an index
//	name        a text
//	made@       a time
//	flag%       0 or 1
//	owner!>hero one in eight of its values is an orphan; dock=>docks has one value, coin->coins is a TINYINT
//	number#     a DECIMAL(20,0)
//	kind&       1 or 2, and says of which table the next column's ids are, as in owner>hero|guild, or in value>hero| of
//	            none
var schemas = map[string]string{
	// A game server of many years: ids are named guid, in half a dozen spellings, and no key is counted up by the
	// database.
	"realm": `
heroes: guid* account:9000 name class:12 level^:80 money:900000 zone:4000 health:5000 guild_rank:9 made@
heroes_removed: guid*>heroes removed_at@ account:9000
hero_stats: guid*>heroes strength:300 stamina:300 crit_rating:900
hero_home: guid*>heroes zone:4000 mapId:600
hero_skill: guid*>heroes skill*:60000 value:450 max:450
hero_spell: guid*>heroes spell*:60000 disabled%
hero_quest: guid*>heroes quest*:60000 status:5 timer:900000000
hero_aura: guid*>heroes casterGuid>heroes spell*:60000 stacks:20
hero_friend: guid*>heroes friend*>heroes note flags:8
hero_bag: guid^>heroes bag?>thing_instance slot:40 item*>thing_instance
hero_outfit: setguid+ guid^>heroes title item0>thing_instance item1>thing_instance item2>thing_instance item3>thing_instance
hero_pet: id* owner^>heroes entry:30000 level:80 happiness:1000
pet_spell: guid*>hero_pet spell*:60000
pet_aura: guid*>hero_pet casterGuid>heroes spell*:60000
thing_instance: guid* entry:60000 owner_guid^>heroes creatorGuid>heroes giverGuid>heroes count:200 durability:100
thing_loot: containerGUID^>thing_instance thingid:60000 count:20
thing_refund: thing_guid*>thing_instance player_guid*>heroes paid:900000
clan: clanid* name leaderguid>heroes emblem:150 bank:900000 made@
clan_member: clanid^>clan guid*>heroes rank:9 note
clan_rank: clanid*>clan rid*:9 name rights:9000
clan_bank_tab: clanid*>clan tab*:6 name
clan_bank_thing: clanid*>clan tab*:6 slot*:98 thing_guid^>thing_instance
clan_log: clanid*>clan entry*:60000 PlayerGuid1>heroes PlayerGuid2>heroes kind:7 at:900000000
crews: guid* leaderGuid^>heroes looterGuid>heroes method:5
crew_member: guid^>crews memberGuid*>heroes role:3
arena_squad: squadId* name captainGuid>heroes type:5 rating:2500
arena_squad_member: squadId*>arena_squad guid*>heroes played:900
letter: id* kind:4 sender>heroes receiver^>heroes subject sent_at:900000000 money:90000
letter_things: letter_id^>letter thing_guid*>thing_instance receiver>heroes
market: id* thingguid^>thing_instance thingowner^>heroes buyguid>heroes startbid:90000 ends:900000000
charter: ownerguid*>heroes charterguid>thing_instance name
charter_sign: charterguid*>thing_instance playerguid*>heroes ownerguid>heroes
world_event: event*:90 state:4
zone_reset: mapid*:700 at:900000000
`,
	// A shop: each id has its table's name behind id_, and tables have a prefix and translations.
	"shop": `
ps_client: id_client+ id_lang^>ps_lang id_default_circle>ps_circle firstname email active% made@
ps_circle: id_circle+ reduction:40
ps_circle_lang: id_circle*>ps_circle id_lang*>ps_lang name
ps_client_circle: id_client*>ps_client id_circle*>ps_circle
ps_place: id_place+ id_client^>ps_client id_land^>ps_land id_maker>ps_maker street city
ps_land: id_land+ id_area^>ps_area iso
ps_land_lang: id_land*>ps_land id_lang*>ps_lang name
ps_area: id_area+ name
ps_lang: id_lang+ name iso active%
ps_money: id_money+ iso rate:300
ps_maker: id_maker+ name
ps_goods: id_goods+ id_maker^>ps_maker id_shelf_default^>ps_shelf id_duty_rules>ps_duty_rules quantity:500 price:90000 made@
ps_goods_lang: id_goods*>ps_goods id_lang*>ps_lang title
ps_goods_variant: id_goods_variant+ id_goods^>ps_goods reference quantity:90
ps_goods_variant_mix: id_trait*>ps_trait id_goods_variant*>ps_goods_variant
ps_goods_pair: id_goods_1*>ps_goods id_goods_2*>ps_goods
ps_goods_sale: id_goods*>ps_goods quantity:900 sales:900
ps_trait: id_trait+ id_trait_circle^>ps_trait_circle position:20
ps_trait_circle: id_trait_circle+ position:20
ps_trait_lang: id_trait*>ps_trait id_lang*>ps_lang name
ps_shelf: id_shelf+ id_parent^>ps_shelf depth:6 position:40
ps_shelf_lang: id_shelf*>ps_shelf id_lang*>ps_lang name
ps_shelf_goods: id_shelf*>ps_shelf id_goods*>ps_goods position:90
ps_duty_rules: id_duty_rules+ name active%
ps_duty_rule: id_duty_rule+ id_duty_rules^>ps_duty_rules id_land>ps_land id_duty>ps_duty
ps_duty: id_duty+ rate:30
ps_basket: id_basket+ id_client^>ps_client id_place_delivery>ps_place id_place_invoice>ps_place id_money>ps_money id_courier>ps_courier made@
ps_basket_goods: id_basket*>ps_basket id_goods*>ps_goods id_goods_variant*>ps_goods_variant quantity:9
ps_courier: id_courier+ name active%
ps_courier_area: id_courier*>ps_courier id_area*>ps_area
ps_orders: id_order+ reference id_client^>ps_client id_basket^>ps_basket id_courier>ps_courier id_money>ps_money id_place_delivery^>ps_place id_place_invoice^>ps_place current_state>ps_order_state total:90000 made@
ps_order_line: id_order_line+ id_order^>ps_orders goods_id^>ps_goods goods_variant_id>ps_goods_variant quantity:9
ps_order_state: id_order_state+ color hidden%
ps_order_state_lang: id_order_state*>ps_order_state id_lang*>ps_lang name
ps_order_history: id_order_history+ id_order^>ps_orders id_staff>ps_staff id_order_state>ps_order_state made@
ps_staff: id_staff+ id_lang>ps_lang name email
ps_note: id_note+ id_order^>ps_orders id_client>ps_client id_staff>ps_staff text
`,
	// A mobile game: camelCase, keys of counted rows, references named after roles.
	"mobile": `
Player: playerId+ deviceToken nickName level:90 gems:9000 vipLevel:15 allianceId^>Alliance createTime@
PlayerSetting: playerId*>Player musicVolume:100 pushEnabled%
PlayerBuilding: id+ playerId^>Player buildingType:40 x:900 y:900 finishTime:900000000
PlayerHero: heroUid+ playerId^>Player heroCfg:5000 star:6 exp:90000
HeroEquip: heroUid*>PlayerHero slot*:6 equipUid>Equip
Equip: equipUid+ ownerId^>Player cfg:5000 enhance:20
Alliance: allianceId+ name leaderId>Player power:90000000
AllianceMember: allianceId*>Alliance playerId*>Player position:5 donated:9000
AllianceApply: allianceId*>Alliance applicantId*>Player applyTime:900000000
AllianceWar: warId+ attackerAllianceId>Alliance defenderAllianceId>Alliance winner?>Alliance startTime:900000000
AllianceWarScore: warId*>AllianceWar playerId*>Player score:90000
Friendship: playerId*>Player friendId*>Player intimacy:900
BlackList: playerId*>Player blockedPlayerId*>Player
Mail: mailId+ senderId>Player receiverId^>Player title readFlag% sendTime:900000000
MailReward: mailId*>Mail idx*:6 rewardType:9 amount:9000
ChatMessage: msgId+ channelId:9 fromPlayerId>Player toPlayerId>Player content
BattleReport: reportId+ attackerId^>Player defenderId^>Player warId?>AllianceWar result:3 battleTime:900000000
March: marchId+ playerId^>Player targetX:900 targetY:900 leadHeroUid>PlayerHero
ShopOrder: orderId+ playerId^>Player productCfg:300 price:9000 payTime:900000000
Season: seasonNo*:40 startTime:900000000
SeasonRank: seasonNo*:40 place*:500 playerId>Player
`,
	// A forum: short names, words for people, trees.
	"forum": `
users: id+ login email group_id^>user_groups posts:900 joined@ referred_by?>users
user_groups: id+ name rank:9
user_profiles: user_id*>users bio avatar_id?>uploads
user_ignores: user_id*>users ignored_id*>users
boards: id+ parent_id^>boards name last_post_id>posts sort:90 topic_count:900
board_moderators: board_id*>boards user_id*>users
topics: id+ board_id^>boards author_id^>users title first_post_id>posts last_poster_id>users views:90000 sticky% created@
posts: id+ topic_id^>topics author_id^>users reply_to?>posts edited_by?>users body created@
post_likes: post_id*>posts user_id*>users
polls: topic_id*>topics question
poll_options: id+ topic_id^>topics votes:90
poll_votes: option_id*>poll_options user_id*>users
messages: id+ from_user^>users to_user^>users thread_id^>message_threads body sent@
message_threads: id+ started_by>users subject
uploads: id+ owner_id^>users post_id?>posts size:900000
tags: id+ label
topic_tags: topic_id*>topics tag_id*>tags
reports: id+ reporter_id>users post_id^>posts handled_by?>users status:4
bans: id+ user_id^>users banned_by>users until@
badges: id+ name level:5
user_badges: user_id*>users badge_id*>badges awarded@
sessions: token* user_id^>users ip:90000000 seen@
`,
	// What games do beside: keys that are the ids of another table, kinds of ids, owners that are gone, one of
	// everything, decimals.
	"habits": `
avatars: id+ login_id#^>logins nick level:60 made@
logins: id#* mail made@
mount_names: id*>avatars label
mount_saddles: id+>avatars cfg:900 label
guilds: id+ title master>avatars
guild_seats: pid*>avatars gid^>guilds grade:9
lore: dwPID^!>avatars entry:900 state:4 label
lore_seen: pid^>avatars entry:900 label
chests: id+ owner_type& owner_id^>avatars|guilds amount:900
rents: id+ place& keeper_id^>avatars|guilds price:900
traits: avatar_id*>avatars type&* value>avatars|
boats: id+ dock_via=^>docks hull:40
docks: id+ label
coins: id+ label
purses: id+ avatar_id^>avatars coin-=>coins amount:900
`,
	// Books of a business: a prefix, and keys that are all called rowid, and references that are not named after them.
	"books": `
bk_party: rowid+ label fk_town^>bk_c_town fk_payterm>bk_c_payterm fk_parent?>bk_party fk_user_author>bk_user datec@
bk_party_rib: rowid+ fk_party^>bk_party iban
bk_party_extra: rowid+ fk_object^>bk_party note
bk_contact: rowid+ fk_party^>bk_party name fk_user_author>bk_user
bk_user: rowid+ login fk_boss?>bk_user salary:9000
bk_user_rights: rowid+ fk_user^>bk_user fk_right:900 label
bk_bill: rowid+ ref fk_party^>bk_party fk_project>bk_project total:90000 fk_payterm>bk_c_payterm datec@
bk_bill_line: rowid+ fk_bill^>bk_bill fk_goods>bk_goods qty:90 rank:9
bk_goods: rowid+ ref label fk_unit>bk_c_unit price:900 stock:90
bk_goods_stock: rowid+ fk_goods^>bk_goods fk_depot>bk_depot qty:900
bk_depot: rowid+ ref label fk_town>bk_c_town
bk_project: rowid+ ref title fk_party>bk_party
bk_project_task: rowid+ fk_project^>bk_project label progress:90
bk_payment: rowid+ fk_bill^>bk_bill amount:90000 fk_bank>bk_bank
bk_bank: rowid+ label
bk_c_town: rowid+ fk_land>bk_c_land label
bk_c_land: rowid+ code label
bk_c_payterm: rowid+ code label days:90
bk_c_unit: rowid+ code label
`,
}
